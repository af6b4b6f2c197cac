#!/bin/sh
# Makes the small library, its PDB and the dump of the browser test. Needs Go, clang++ and lld-link, and may make the folder /src, so that the
# files name no other.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir /src
(cd "$here" && go run .. -units 60 -functions 4 -out /src)
for name in big.dll big.pdb big.dmp; do gzip -9nc /src/$name > "$here/$name.gz"; done
rm -r /src
