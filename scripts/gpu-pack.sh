#!/usr/bin/env bash
# Builds what is needed to test and measure on a machine that has an NVIDIA driver and
# nothing else, into .bin/gpu: copy that folder there and run its run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

pack=.bin/gpu
rm -rf "$pack"
mkdir -p "$pack"
export CGO_ENABLED=0

go build -trimpath -ldflags='-s -w' -o "$pack/halfulp" ./cmd/halfulp
for package in cmd/halfulp internal/cuda internal/gpu internal/gpu/mem internal/gpu/newton internal/gpu/product internal/gpu/rows internal/gpu/seed internal/gpu/several rns expansion ozaki linsolve conformance; do
	go test -c -trimpath -ldflags='-s -w' -o "$pack/$(basename "$package").test" "./$package"
done
go test -c -trimpath -ldflags='-s -w' -o "$pack/root.test" .
go build -C reproduce -trimpath -ldflags='-s -w' -o "../$pack/halfulp-reproduce" ./cmd/halfulp-reproduce
go test -C reproduce -c -trimpath -ldflags='-s -w' -o "../$pack/reproduce.test" .
git rev-parse HEAD >"$pack/commit"
git diff --quiet HEAD -- || echo "and changes" >>"$pack/commit"
cp scripts/gpu-run.sh "$pack/run.sh"
du -sh "$pack"
