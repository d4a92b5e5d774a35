#!/usr/bin/env bash
# Makes a website of the documents in .bin/site/html, with Zensical, the successor of Material for
# MkDocs, in a virtual environment of its own. It needs Python 3 with pip and, the first time, a
# network. The pages lie in the site as in the tree, so that links between them are the same. A
# broken link is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."

environment=$PWD/.bin/site-python
if ! cmp -s scripts/site/requirements.txt "$environment/requirements.txt"; then
	rm -rf "$environment"
	python3 -m venv "$environment"
	"$environment/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/site/requirements.txt
	cp scripts/site/requirements.txt "$environment/"
fi

rm -rf .bin/site
mkdir -p .bin/site/pages
git ls-files -z --cached --others --exclude-standard -- README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs examples bench/README.md bench/records 'bindings/*.md' bindings/c/halfulp.h |
	xargs -0 cp --parents -t .bin/site/pages
go run ./scripts/docs -reference .bin/site/pages/reference .
mkdir -p .bin/site/pages/bindings/c
go run -C bindings/c ./internal/generate -reference "$PWD/.bin/site/pages/bindings/c/reference.md"

# The report of the papers' experiments, from the records of an H100.
report=$PWD/.bin/site/pages/reproduce
mkdir "$report"
for paper in mpres-sum mpres-gemv ozaki qd; do
	gunzip -c "bench/records/h100-$paper.json.gz" >"$report/$paper.json"
done
go run -C reproduce ./cmd/halfulp-reproduce report "$report"
rm "$report"/*.png "$report/report.md" # which would take the place of report.html
cat >"$report/README.md" <<-'EOF'
	# The papers' experiments on an H100

	[The report](report.html) is one page with its pictures, which needs no other files. It has every table, figure and algorithm of
	the five papers: the paper's figure, the figure measured by the paper's method, and the figure of the correctly rounded routine.
	`halfulp reproduce all --device cuda:0 --out DIR` measures all of them, and `halfulp reproduce report DIR` writes the report.
EOF
cp scripts/site/site.css .bin/site/pages/
cp scripts/site/mkdocs.yml .bin/site/
cd .bin/site
"$environment/bin/zensical" build --strict
echo "$PWD/html/index.html"
