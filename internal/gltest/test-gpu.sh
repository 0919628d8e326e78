#!/usr/bin/env bash
# Runs test binaries on the hardware OpenGL device of this machine, which needs
# neither Go nor make: build them with `make gpu-tests` and take the folder along.
#
#   test-gpu.sh FOLDER [CHECKS]     CHECKS: random cases a property, default 1000;
#                                   a tenth of that of the oracle's, which are tables
set -uo pipefail

folder=${1:?usage: test-gpu.sh FOLDER [CHECKS]}
checks=${2:-1000}
export STENCILDB_DEVICE=hardware
failed=0

echo "stencildb $(cat "$folder/COMMIT"), $(date -u +%Y-%m-%d)"
for binary in $(ls "$folder"/*.test | grep -v oracle) "$folder"/*oracle*.test; do
	name=$(basename "$binary" .test)
	flags=(-test.timeout=30m -test.v)
	if "$binary" -test.list='^$' -rapid.checks=1 >/dev/null 2>&1; then
		n=$checks
		[[ $name != *oracle* ]] || n=$((checks / 10))
		flags+=(-rapid.checks="$n")
	fi
	log=$("$binary" "${flags[@]}" 2>&1)
	status=$?
	if ((status == 0)); then
		echo "ok    $name: $(grep -c '^--- PASS' <<<"$log") tests"
	else
		echo "FAIL  $name"
		failed=1
	fi
	grep -E '^ +[a-z_]+_test\.go:[0-9]+: .*(queries|device|NVIDIA)|^(---|    ---) FAIL|panic:' <<<"$log" | head -40
	((status == 0)) || tail -60 <<<"$log"
done
exit $failed
