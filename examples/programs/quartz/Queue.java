/* Quartz: the clustered JDBC job store, as its scheduler's thread calls it: acquireNextTriggers, triggersFired,
 * triggeredJobComplete; beside it the store's own threads, which check in, and recover the jobs of who does not.
 *
 *   examples/programs/quartz/install
 *   lockbench verify -s examples/programs/quartz/queue.sh -d postgresql://user:password@host/database
 *
 * An item is a job with one trigger, which is due at once, and which asks for recovery. An instance that has not
 * checked in for clusterCheckinInterval and 7.5 seconds is taken for dead: the next one that checks in fires its
 * jobs once more. So the shortest limit here is 10 seconds. The JDBC driver has no local sockets: the URI needs a host.
 */
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.LinkedBlockingDeque;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobKey;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.jdbcjobstore.JobStoreTX;
import org.quartz.impl.jdbcjobstore.PostgreSQLDelegate;
import org.quartz.simpl.CascadingClassLoadHelper;
import org.quartz.spi.ClassLoadHelper;
import org.quartz.spi.OperableTrigger;
import org.quartz.spi.SchedulerSignaler;
import org.quartz.spi.TriggerFiredResult;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

public class Queue {
    static final long GRACE_MS = 7500; // the library's own, which it adds to the interval

    /** What would be run; lockbench holds the item instead. */
    public static class Work implements Job {
        public void execute(JobExecutionContext context) {}
    }

    /** A few connections that stay open, for the claims and for the store's own threads. */
    static class Pool implements ConnectionProvider {
        final LinkedBlockingDeque<Connection> idle = new LinkedBlockingDeque<>();
        final String url;
        final Properties login = new Properties();

        Pool(JsonObject target) {
            url = "jdbc:postgresql://" + text(target, "host") + ":" + text(target, "port") + "/" + text(target, "database");
            login.setProperty("user", text(target, "user"));
            login.setProperty("password", text(target, "password"));
        }

        public Connection getConnection() throws SQLException {
            Connection kept = idle.pollFirst();
            if (kept != null && !kept.isClosed()) return lend(kept);
            return lend(DriverManager.getConnection(url, login));
        }

        /** Closing gives it back. */
        Connection lend(Connection real) {
            return (Connection) java.lang.reflect.Proxy.newProxyInstance(Queue.class.getClassLoader(), new Class<?>[] {Connection.class},
                (proxy, method, args) -> {
                    if (method.getName().equals("close")) {
                        if (!real.isClosed()) idle.addFirst(real);
                        return null;
                    }
                    try {
                        return method.invoke(real, args);
                    } catch (java.lang.reflect.InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        }

        public void initialize() {}

        public void shutdown() {}
    }

    static class Nobody implements SchedulerSignaler {
        public void notifyTriggerListenersMisfired(Trigger trigger) {}

        public void notifySchedulerListenersFinalized(Trigger trigger) {}

        public void notifySchedulerListenersJobDeleted(JobKey key) {}

        public void signalSchedulingChange(long candidate) {}

        public void notifySchedulerListenersError(String text, SchedulerException e) {}
    }

    static class Fired {
        OperableTrigger trigger;
        JobDetail job;
    }

    static final Map<Long, Fired> fired = new HashMap<>();
    static Pool pool;
    static JobStoreTX store;
    static String worker;
    static long checkinMs;

    static String text(JsonObject object, String key) {
        return object.has(key) ? object.get(key).getAsString() : "";
    }

    static void open(JsonObject request) {
        JsonObject target = request.getAsJsonObject("target"), options = request.getAsJsonObject("options");
        if (!target.has("host")) throw new IllegalStateException("the JDBC driver needs a URI with a host");
        pool = new Pool(target);
        worker = text(request, "worker");
        long limitMs = Math.max(options.get("ttl_ms").getAsLong(), 10000);
        checkinMs = limitMs - GRACE_MS - 1500;
        DBConnectionManager.getInstance().addConnectionProvider("lockbench", pool);
    }

    /** The store and its threads, as a scheduler starts them. */
    static void start() throws Exception {
        if (store != null) return;
        ClassLoadHelper loader = new CascadingClassLoadHelper();
        loader.initialize();
        store = new JobStoreTX();
        store.setDataSource("lockbench");
        store.setDriverDelegateClass(PostgreSQLDelegate.class.getName());
        store.setInstanceName("cluster");
        store.setInstanceId(worker + "-" + ProcessHandle.current().pid());
        store.setIsClustered(true);
        store.setClusterCheckinInterval(checkinMs);
        store.setMakeThreadsDaemons(true);
        store.initialize(loader, new Nobody());
        store.schedulerStarted();
    }

    static void setup() throws Exception {
        String tables = new String(JobStoreTX.class.getResourceAsStream("tables_postgres.sql").readAllBytes());
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute(tables);
        }
    }

    static void put(JsonObject request) throws Exception {
        JobDetail job = JobBuilder.newJob(Work.class).withIdentity(text(request, "item")).requestRecovery()
            .usingJobData("payload", text(request, "payload")).build();
        OperableTrigger trigger = (OperableTrigger) TriggerBuilder.newTrigger().withIdentity(text(request, "item")).forJob(job).startNow().build();
        trigger.computeFirstFireTime(null);
        store.storeJobAndTrigger(job, trigger);
    }

    static void claim(JsonObject request, JsonObject answer) throws Exception {
        List<OperableTrigger> acquired = store.acquireNextTriggers(System.currentTimeMillis(), request.get("n").getAsInt(), 0);
        List<JsonObject> items = new ArrayList<>();
        if (!acquired.isEmpty())
            for (TriggerFiredResult result : store.triggersFired(acquired)) {
                if (result.getException() != null) throw result.getException();
                if (result.getTriggerFiredBundle() == null) continue;
                Fired one = new Fired();
                one.trigger = result.getTriggerFiredBundle().getTrigger();
                one.job = result.getTriggerFiredBundle().getJobDetail();
                long item = Long.parseLong(one.job.getKey().getName());
                fired.put(item, one);
                JsonObject said = new JsonObject();
                said.addProperty("item", item);
                items.add(said);
            }
        if (items.isEmpty())
            answer.addProperty("empty", true);
        else
            answer.add("items", new Gson().toJsonTree(items));
    }

    static void complete(JsonObject request) {
        Fired one = fired.remove(request.get("item").getAsLong());
        store.triggeredJobComplete(one.trigger, one.job, one.trigger.executionComplete(null, null));
    }

    /** What the store found wrong by itself, it has rolled back; its scheduler logs it and tries again. */
    static boolean isOfTheServer(Throwable e) {
        return e != null && (e instanceof SQLException || isOfTheServer(e.getCause()));
    }

    static JsonObject perform(JsonObject request) {
        JsonObject answer = new JsonObject();
        answer.add("id", request.get("id"));
        try {
            String what = text(request, "do");
            if (!what.equals("open") && !what.equals("setup") && !what.equals("teardown")) start();
            switch (what) {
                case "open": open(request); break;
                case "setup": setup(); break;
                case "put": put(request); break;
                case "claim": claim(request, answer); break;
                case "complete": complete(request); break;
            }
            if (!answer.has("empty")) answer.addProperty("ok", true);
        } catch (Exception e) {
            answer.addProperty("error", String.valueOf(e.getMessage()));
            if (isOfTheServer(e)) answer.addProperty("unknown", true);
        }
        return answer;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("{\"hello\":1,\"strategy\":\"quartz\",\"version\":\"2.3.2\",\"shape\":\"queue\",\"lease_unit_ms\":10000,\"heartbeats\":true,"
            + "\"claims\":[\"no-duplicate\",\"no-loss\"],\"engines\":[\"postgres\"],\"operations\":[\"put\",\"claim\",\"complete\"]}");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = input.readLine()) != null;) {
            JsonObject request = JsonParser.parseString(line).getAsJsonObject();
            if (text(request, "do").equals("close")) break;
            System.out.println(perform(request));
        }
        System.exit(0);
    }
}
