#!/usr/bin/php
<?php
/* Symfony's lock component: one of its stores behind LockFactory.
 *
 *   examples/programs/symfony-lock/install
 *   lockbench verify -s examples/programs/symfony-lock/pdo.php -d postgresql://...
 *   lockbench verify -s examples/programs/symfony-lock/advisory.php -d postgresql://...
 *
 * The two programs are links to this one: PdoStore keeps leases of whole seconds in a table, PostgreSqlStore takes
 * advisory locks of the session. */
require '/usr/share/php/Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\PdoStore;
use Symfony\Component\Lock\Store\PostgreSqlStore;

$pdo = basename($argv[0]) === 'pdo.php';
$held = [];

function say(array $line): void
{
    fwrite(STDOUT, json_encode($line, JSON_UNESCAPED_SLASHES) . "\n");
}

function connect(array $target): PDO
{
    $parts = ['host' => $target['host'] ?: $target['socket'], 'port' => $target['port'], 'dbname' => $target['database']];
    $text = implode(';', array_map(fn ($key) => "$key=$parts[$key]", array_keys(array_filter($parts))));
    /* Without statements prepared by the server, as a pooler in transaction mode wants. */
    return new PDO("pgsql:$text", $target['user'], $target['password'] ?? null,
        [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_EMULATE_PREPARES => true]);
}

function answer(array $request): array
{
    global $pdo, $held, $connection, $store, $factory, $ttl;
    $name = $request['resource'] ?? '';
    switch ($request['do']) {
        case 'open':
            $connection = connect($request['target']);
            $ttl = intdiv($request['options']['ttl_ms'], 1000);
            $store = $pdo ? new PdoStore($connection, [], 0.01, $ttl) : new PostgreSqlStore($connection);
            $factory = new LockFactory($store);
            return ['ok' => true, 'session' => (int) $connection->query('SELECT pg_backend_pid()')->fetchColumn()];
        case 'setup':
            if ($pdo)
                $store->createTable();
            return ['ok' => true];
        case 'acquire':
            $lock = $factory->createLock($name, $pdo ? $ttl : null, false);
            if (!$lock->acquire(false))
                return ['busy' => true];
            $held[$name] = $lock;
            return ['ok' => true];
        case 'release':
            $lock = $held[$name];
            unset($held[$name]);
            $is_ours = $lock->isAcquired();
            $lock->release();
            return $is_ours ? ['ok' => true] : ['refused' => true];
        default:
            return ['ok' => true];
    }
}

say(['hello' => 1, 'strategy' => $pdo ? 'symfony-pdo' : 'symfony-advisory', 'version' => '5.4', 'shape' => 'lock',
    'lease' => $pdo, 'lease_unit_ms' => $pdo ? 1000 : 1, 'claims' => ['exclusive', 'owner-release'], 'engines' => ['postgres']]);
while (($text = fgets(STDIN)) !== false) {
    $request = json_decode($text, true);
    if ($request['do'] === 'close')
        break;
    try {
        $said = answer($request);
    } catch (Throwable $error) {
        $said = ['error' => $error->getMessage(), 'unknown' => true];
    }
    say(['id' => $request['id']] + $said);
}
