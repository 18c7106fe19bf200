"""What Pillow makes of a small image by each of its filters: an image of 37 x 23 pixels shrunk and enlarged, of which the middle is cut out.

    python3 tests/golden/pillow_resize.py > tests/golden/pillow_resize.json"""
import json

from PIL import Image

WIDTH, HEIGHT = 37, 23
FILTERS = {"nearest": Image.Resampling.NEAREST, "lanczos": Image.Resampling.LANCZOS, "bilinear": Image.Resampling.BILINEAR,
           "bicubic": Image.Resampling.BICUBIC, "box": Image.Resampling.BOX, "hamming": Image.Resampling.HAMMING}

picture = Image.new("RGB", (WIDTH, HEIGHT))
picture.putdata([((7 * x * x + 13 * y) % 256, (x * y * 5) % 256, 255 if (x // 3 + y // 2) % 2 else 0) for y in range(HEIGHT) for x in range(WIDTH)])
made = {}
for name, kind in FILTERS.items():
    for side, crop in ((10, 10), (40, 6)):
        whole = (WIDTH * side // HEIGHT, side)
        left, top = (whole[0] - crop) // 2, (whole[1] - crop) // 2
        part = picture.resize(whole, kind).crop((left, top, left + crop, top + crop))
        made[f"{name} {side} {crop}"] = list(part.tobytes())
print(json.dumps(made))
