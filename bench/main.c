/* lockbench: prove and price a lock that lives in a SQL table. */
#include "cli.h"

int main(int argc, char **argv)
{
    return (int)lb_cli_main(argc, argv);
}
