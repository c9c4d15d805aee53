/* The process's title, which every user of the machine can read. */
#ifndef LB_TITLE_H
#define LB_TITLE_H

/* A copy of the arguments, NULL at its end; in their first place passwords become asterisks. Free
 * with lb_title_free. */
char **lb_title_take(int argc, char **argv);
void lb_title_free(char **copies);

#endif
