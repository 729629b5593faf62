#!/bin/bash
# Slurm's accounting on the loopback, all of it in a folder: a database, slurmdbd, and a controller of which it knows what can be counted.
#   slurm_accounts.sh start FOLDER PORT [PROGRAMS]   PROGRAMS: where the packages mariadb-server-core, libmariadb3, slurmdbd and
#                                                    slurm-wlm-mysql-plugin were unpacked (dpkg -x); else what is installed
#   slurm_accounts.sh stop FOLDER
set -eu
folder=$2
if [ "$1" = stop ]; then
    for file in "$folder"/*.pid; do kill -9 "$(cat "$file")" 2>/dev/null || true; done
    exit 0
fi
port=$3 programs=${4:-} host=$(hostname -s) who=$(id -un)
libraries=$programs/usr/lib/x86_64-linux-gnu
if [ -n "$programs" ]; then export LD_LIBRARY_PATH=$libraries; fi
mkdir -p "$folder/data" "$folder/state"
share=$programs/usr/share/mysql mariadbd=$programs/usr/sbin/mariadbd
"$mariadbd" --no-defaults --bootstrap --datadir="$folder/data" --lc-messages-dir="$share" --user="$who" \
    --skip-networking 2>"$folder/bootstrap.log" < <(
        printf 'create database mysql;\nuse mysql;\n'
        cat "$share"/mysql_system_tables.sql "$share"/mysql_system_tables_data.sql
    )
"$mariadbd" --no-defaults --datadir="$folder/data" --lc-messages-dir="$share" --user="$who" --socket="$folder/sql" \
    --pid-file="$folder/sql.pid" --port="$port" --bind-address=127.0.0.1 --skip-grant-tables \
    --plugin-dir="$programs/usr/lib/mysql/plugin" --innodb-buffer-pool-size=16M >/dev/null 2>"$folder/sql.log" &
for _ in $(seq 100); do if [ -S "$folder/sql" ]; then break; fi; sleep 0.1; done
cat >"$folder/slurmdbd.conf" <<CONF
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 1))
AuthType=auth/none
SlurmUser=$who
PidFile=$folder/slurmdbd.pid
LogFile=$folder/slurmdbd.log
PluginDir=/usr/lib/x86_64-linux-gnu/slurm-wlm:$libraries/slurm-wlm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$port
StorageUser=root
StorageLoc=accounts
CONF
chmod 600 "$folder/slurmdbd.conf"
cat >"$folder/slurm.conf" <<CONF
ClusterName=accounts
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$((port + 2))
SlurmctldPidFile=$folder/controller.pid
StateSaveLocation=$folder/state
AuthType=auth/none
CredType=cred/none
SlurmUser=$who
ProctrackType=proctrack/pgid
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 1))
AccountingStorageTRES=gres/gpu
GresTypes=gpu
NodeName=n1
PartitionName=all Nodes=n1
CONF
export SLURM_CONF=$folder/slurm.conf
"$programs/usr/sbin/slurmdbd" >/dev/null 2>"$folder/slurmdbd.err"
unset LD_LIBRARY_PATH
for _ in $(seq 100); do if sacctmgr -i add cluster accounts >/dev/null 2>&1; then break; fi; sleep 0.1; done
/usr/sbin/slurmctld -f "$SLURM_CONF" -L "$folder/controller.log" >/dev/null 2>&1
for _ in $(seq 100); do if sacctmgr -nP show tres | grep -q 'gres|gpu'; then exit 0; fi; sleep 0.1; done
echo "the controller did not tell of GPUs; see $folder/controller.log" >&2
exit 1
