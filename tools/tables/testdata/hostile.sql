-- One statement a line that must be refused, and must do no harm where it is not.
INSERT INTO orders VALUES (9, 'x', 1)
UPDATE orders SET amount = 0
DELETE FROM orders
TRUNCATE orders
DROP TABLE orders
DROP TABLE IF EXISTS orders CASCADE
ALTER TABLE orders ADD COLUMN x INT
CREATE TABLE evil (a INT)
CREATE TABLE evil AS SELECT * FROM orders
CREATE OR REPLACE TABLE orders AS SELECT 1
CREATE VIEW evil AS SELECT 1
CREATE OR REPLACE MACRO parse_num(x) AS 1
CREATE SCHEMA evil
CREATE SEQUENCE evil
CREATE TYPE evil AS ENUM ('a')
CREATE INDEX evil ON orders (id)
CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')
CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET 'y')
MERGE INTO orders USING orders o ON orders.id = o.id WHEN MATCHED THEN DELETE
COPY orders TO '$OUT/stolen.csv'
COPY (SELECT * FROM orders) TO '$OUT/stolen.parquet' (FORMAT parquet)
COPY orders FROM '/etc/passwd'
EXPORT DATABASE '$OUT/dump'
IMPORT DATABASE '$OUT/dump'
ATTACH '$OUT/evil.db' AS evil
ATTACH ':memory:' AS evil
DETACH memory
USE temp
INSTALL httpfs
LOAD httpfs
LOAD '$OUT/evil.duckdb_extension'
SET memory_limit = '99GB'
SET enable_external_access = true
SET GLOBAL lock_configuration = false
SET VARIABLE x = 1
RESET memory_limit
PRAGMA memory_limit = '99GB'
PRAGMA database_list
PRAGMA enable_profiling = 'json'
PRAGMA profiling_output = '$OUT/profile.json'
CALL pragma_version()
CALL enable_logging()
CHECKPOINT
FORCE CHECKPOINT
VACUUM
ANALYZE
BEGIN TRANSACTION
COMMIT
ROLLBACK
PREPARE p AS DELETE FROM orders
EXECUTE p
EXPLAIN ANALYZE DELETE FROM orders
EXPLAIN SELECT 1
SELECT 1; DROP TABLE orders
COMMIT; DROP TABLE orders
ROLLBACK; DELETE FROM orders; SELECT 1
SELECT 1; COMMIT; UPDATE orders SET amount = 0
SELECT 1 /* ; */ ; DELETE FROM orders --
WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone
WITH new AS (INSERT INTO orders VALUES (9, 'x', 1) RETURNING *) SELECT * FROM new
SELECT * INTO evil FROM orders
SELECT * FROM orders FOR UPDATE
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('$IN/orders.csv')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_json('/etc/passwd')
SELECT * FROM read_parquet('/etc/passwd')
SELECT * FROM parquet_metadata('/etc/passwd')
SELECT * FROM sniff_csv('$IN/orders.csv')
SELECT * FROM glob('/**')
SELECT * FROM '/etc/passwd'
SELECT * FROM '$IN/orders.csv'
SELECT * FROM "https://example.com/x.parquet"
SELECT count(*) FROM orders, '/etc/passwd'
SELECT (SELECT content FROM read_text('/etc/passwd'))
WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x
SELECT * FROM orders WHERE id IN (SELECT 1 FROM glob('/*'))
SELECT * FROM query('DROP TABLE orders')
SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')
SELECT * FROM query_table('/etc/passwd')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM glob(''/*'')'))
SELECT * FROM sqlite_scan('/etc/passwd', 'x')
SELECT getenv('HOME')
SELECT current_setting('temp_directory')
SELECT getvariable('x')
SELECT write_log('evil')
SELECT pg_sleep(20)
SELECT sleep_ms(20000)
SELECT nextval('evil')
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_logs
SELECT * FROM duckdb_extensions()
SELECT * FROM duckdb_databases()
SELECT * FROM pragma_database_size()
SELECT * FROM which_secret('s3://x', 's3')
SELECT * FROM sqlite_master
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM enable_logging()
SELECT * FROM checkpoint('memory')
SELECT * FROM test_all_types()
SHOW DATABASES
SHOW VARIABLES
SELECT repeat('x', 1000000000)
SELECT repeat(repeat('x', 9999), 9999)
SELECT lpad('x', 1000000000, 'y')
SELECT len(range(1000000000))
SELECT len(generate_series(1, 30000 * 30000))
SELECT * FROM unnest(range(100000000))
SELECT printf('%1000000000d', 1)
SELECT id FROM orders WHERE id = $1
SELECT id FROM orders WHERE id = ?
