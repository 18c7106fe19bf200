# What a user does, in an empty folder of a bare system (scripts/try-packages, scripts/try-debian).
# Photos and an encoder, which a user has: drawn creatures, and an encoder trained on others of them for one epoch.
protocom --quiet synth creatures --image-size 48 --base 8 --val 0 --novel 4 --images-per-class 12
protocom --quiet pretrain creatures --image-size 40 --out encoder.npz --architecture conv4 --epochs 1 --batch 16
mkdir my-photos holiday
for folder in $(sed -n 's/,novel.*//p' creatures/split.csv); do
  mkdir "my-photos/$folder"
  set -- "creatures/$folder"/*.jpg
  cp "$1" "$2" "$3" "$4" "my-photos/$folder/"
  cp "$5" "holiday/$folder.jpg"
done

begin=$(date +%s%N)
protocom recognizer create mine.pcm --backbone encoder.npz --images my-photos
created=$(date +%s%N)
python3 -c 'import protocom'
imported=$(date +%s%N)
echo "use: $(((created - begin) / 1000000)) ms protocom recognizer create, $(((imported - created) / 1000000)) ms import protocom"
[ $(((imported - begin) / 1000000)) -lt 60000 ]

protocom classify mine.pcm holiday/
default=/usr/share/protocom/encoders/efficientnet-lite0.onnx # where the package was made
[ ! -e "$default" ] || protocom recognizer create other.pcm --backbone "$default" --images my-photos
python3 - <<'PYTHON'
import os
import protocom
mine = protocom.Recognizer.open("mine.pcm")
y = [name for name in sorted(mine.classes) for _ in os.listdir(f"my-photos/{name}")]
X = mine.features_of([f"my-photos/{name}/{file}" for name in sorted(mine.classes) for file in os.listdir(f"my-photos/{name}")])
assert protocom.PLDA().fit(X, y).predict_proba(X).shape == (16, 4)
PYTHON
