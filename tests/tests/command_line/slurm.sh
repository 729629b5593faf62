#!/bin/bash
# Slurm on the loopback, all of it in a folder.
#   slurm.sh start FOLDER NODES PORT    a controller and so many nodes of one processor, n1, n2 ...
#   slurm.sh kill FOLDER NODE           a node and all that runs on it, as when its power fails
#   slurm.sh stop FOLDER
set -eu
folder=$2
export SLURM_CONF=$folder/slurm.conf
if [ "$1" = stop ]; then
    for file in "$folder"/*.pid; do kill -9 "$(cat "$file")" 2>/dev/null || true; done
    exit 0
fi
if [ "$1" = kill ]; then
    steps=() jobs=()
    for environment in $(grep -lsz "^SLURMD_NODENAME=$3\$" /proc/[0-9]*/environ); do
        grep -qsz "^SLURM_CONF=$SLURM_CONF\$" "$environment" || continue
        process=${environment%/environ}
        jobs+=("${process#/proc/}")
        parent=$(awk '/^PPid:/ {print $2}' "$process/status" 2>/dev/null || true)
        if grep -qs slurmstepd "/proc/$parent/comm"; then steps+=("$parent"); fi
    done
    # First who would tell the controller that the job failed.
    kill -9 "$(cat "$folder/$3.pid")" "${steps[@]}" "${jobs[@]}" 2>/dev/null || true
    exit 0
fi
nodes=$3 port=$4 host=$(hostname -s)
mkdir -p "$folder/state"
{
    cat <<CONF
ClusterName=sweep
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
SlurmctldPidFile=$folder/controller.pid
SlurmdPidFile=$folder/%n.pid
SlurmdSpoolDir=$folder/%n
StateSaveLocation=$folder/state
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
KillWait=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
CONF
    for node in $(seq "$nodes"); do
        echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + node)) CPUs=1 RealMemory=1000"
    done
    echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP"
} >"$SLURM_CONF"
PATH=$PATH:/usr/sbin:/sbin
slurmctld -f "$SLURM_CONF" -L "$folder/controller.log"
for node in $(seq "$nodes"); do
    mkdir -p "$folder/n$node"
    slurmd -N "n$node" -f "$SLURM_CONF" -L "$folder/n$node.log"
done
for _ in $(seq 60); do
    [ "$(sinfo -h -t idle -o %D)" = "$nodes" ] && exit 0
    sleep 0.5
done
echo "the nodes do not come up: $(tail -n 3 "$folder"/*.log)" >&2
exit 1
