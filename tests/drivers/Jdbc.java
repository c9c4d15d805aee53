/* PostgreSQL's JDBC driver: prepared statements (which it names after some uses), batches, generated keys, a cursor that is
 * read in pieces, transactions with a savepoint, errors, COPY, notifications, cancel. */
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import org.postgresql.PGConnection;

public class Jdbc {
    static Connection connect() throws SQLException {
        String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
        return DriverManager.getConnection(url, System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
    }

    static String one(Connection db, String sql) throws SQLException {
        try (Statement statement = db.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Connection db = connect();
        Statement plain = db.createStatement();
        plain.execute("CREATE TABLE j (id serial, what text); SELECT 1; SELECT 2");
        PreparedStatement insert = db.prepareStatement("INSERT INTO j (what) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
        for (int i = 0; i < 8; i++) {
            insert.setString(1, "it's " + i);
            insert.executeUpdate();
            ResultSet keys = insert.getGeneratedKeys();
            keys.next();
            System.out.println("key " + keys.getInt(1));
        }
        PreparedStatement batch = db.prepareStatement("INSERT INTO j (what) VALUES (?)");
        for (int i = 0; i < 700; i++) {
            batch.setString(1, "batch " + i);
            batch.addBatch();
        }
        System.out.println(batch.executeBatch().length);
        try {
            plain.executeQuery("SELECT 1 / 0");
        } catch (SQLException error) {
            System.out.println(error.getSQLState());
        }
        db.setAutoCommit(false);
        PreparedStatement cursor = db.prepareStatement("SELECT id FROM j ORDER BY id");
        cursor.setFetchSize(50);
        long sum = 0;
        try (ResultSet rows = cursor.executeQuery()) {
            while (rows.next())
                sum += rows.getInt(1);
        }
        System.out.println("sum " + sum);
        Savepoint savepoint = db.setSavepoint();
        plain.executeUpdate("DELETE FROM j");
        db.rollback(savepoint);
        db.commit();
        System.out.println(one(db, "SELECT count(*) FROM j"));
        db.commit();
        db.setAutoCommit(true);
        PGConnection own = db.unwrap(PGConnection.class);
        StringBuilder lines = new StringBuilder();
        for (int i = 1000; i < 5000; i++)
            lines.append(i).append("\tcopied\n");
        System.out.println(own.getCopyAPI().copyIn("COPY j FROM STDIN", new StringReader(lines.toString())));
        StringWriter out = new StringWriter();
        own.getCopyAPI().copyOut("COPY (SELECT id FROM j ORDER BY id DESC LIMIT 3) TO STDOUT", out);
        System.out.print(out);
        plain.execute("LISTEN n");
        plain.execute("NOTIFY n, 'said'");
        System.out.println(own.getNotifications()[0].getParameter());
        Connection watcher = connect();
        int pid = own.getBackendPID();
        Thread canceller = new Thread(() -> {
            try {
                String asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = " + pid;
                while (one(watcher, asleep).equals("0"))
                    Thread.yield();
                plain.cancel();
            } catch (SQLException error) {
                System.out.println(error);
            }
        });
        canceller.start();
        try {
            plain.execute("SELECT pg_sleep(600)");
        } catch (SQLException error) {
            System.out.println(error.getSQLState());
        }
        canceller.join();
        System.out.println(one(db, "SELECT 'still here'"));
    }
}
