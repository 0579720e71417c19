#!/usr/bin/env bash
# Installs a built wheel into a fresh environment, far from the checkout, and uses it offline.
# Usage: wheel_smoke.sh dist/localrag-*.whl FOLDER_WITH_DOCUMENTS
set -euo pipefail

wheel=$(realpath "$1")
documents=$(realpath "$2")
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A namespace without network devices: whatever reaches out fails at once.
offline=()
if unshare --map-root-user --net true 2>/dev/null; then
  offline=(unshare --map-root-user --net)
else
  echo "wheel_smoke: this machine cannot make a network namespace; running with the network on" >&2
fi

"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip --quiet --quiet --disable-pip-version-check install "$wheel"
cp -r "$documents" "$work/documents"
cd "$work"

run() {
  echo "+ localrag $*"
  "${offline[@]}" "$work/venv/bin/localrag" "$@"
}

run index documents --db smoke.db
run ask "How many times does HttpClient retry by default?" --db smoke.db | tee answer.txt
grep --quiet "retries three times by default" answer.txt
run doctor
echo "wheel_smoke: passed"
