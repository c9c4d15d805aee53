<?php
// PDO: its own prepared statements and those of the server, types, errors, transactions, COPY, notifications.
$say = fn (...$values) => print(json_encode($values) . "\n");
$pdo = new PDO('pgsql:', options: [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$pdo->exec('DROP TABLE IF EXISTS h; CREATE TABLE h (id int, ok bool, what text)');
$insert = $pdo->prepare('INSERT INTO h VALUES (:id, :ok, :what)');
for ($i = 0; $i < 3; $i++) {
    $insert->bindValue('id', $i, PDO::PARAM_INT);
    $insert->bindValue('ok', $i > 1, PDO::PARAM_BOOL);
    $insert->bindValue('what', "it's $i");
    $insert->execute();
}
$say($pdo->query('SELECT * FROM h ORDER BY id')->fetchAll(PDO::FETCH_NUM));
$pdo->setAttribute(PDO::ATTR_EMULATE_PREPARES, true);
$statement = $pdo->prepare('SELECT what FROM h WHERE id = ?');
$statement->execute([2]);
$say($statement->fetchColumn());
try {
    $pdo->query('SELECT 1 / 0');
} catch (PDOException $error) {
    $say($error->getCode());
}
$pdo->beginTransaction();
$pdo->exec('DELETE FROM h');
$pdo->rollBack();
$say($pdo->query('SELECT count(*) FROM h')->fetchColumn());
$say($pdo->pgsqlCopyFromArray('h', array_map(fn ($i) => "$i\tt\tcopied", range(10, 2000))), count($pdo->pgsqlCopyToArray('h')));
$pdo->exec('LISTEN x');
$pdo->exec("NOTIFY x, 'heard'");
$say(array_slice($pdo->pgsqlGetNotify(PDO::FETCH_NUM, 60000), 0, 1));
