"""Makes the notebook and the images here; see README.md.

Needs: pip install nbformat nbclient ipykernel matplotlib pandas pillow
"""

import math
import pathlib

import nbformat
from nbclient import NotebookClient
from nbformat import v4
from PIL import Image, ImageDraw

HERE = pathlib.Path(__file__).parent

CELLS = [
    v4.new_markdown_cell("# Harbour\n\nDepths in *metres*."),
    v4.new_code_cell("import pandas as pd\nframe = pd.DataFrame({'quay': ['a', 'b'], 'depth': [4.5, 12]})\nframe"),
    v4.new_code_cell("import sys\nprint('to the output')\nprint('to the errors', file=sys.stderr)"),
    v4.new_code_cell(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.figure(figsize=(2, 1.5), dpi=50)\n"
        "plt.plot(frame.depth)\nplt.show()"
    ),
    v4.new_code_cell("for i in range(3000):\n    print('line', i)"),
    v4.new_code_cell("from IPython.display import HTML\nHTML('<b>bold</b>')"),
    v4.new_code_cell("1 / 0"),
    v4.new_raw_cell("raw text"),
]


def notebook():
    for i, cell in enumerate(CELLS):
        cell["id"] = f"cell-{i}"
    book = v4.new_notebook(cells=CELLS)
    NotebookClient(book, kernel_name="python3", allow_errors=True).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(book, HERE / "harbour.ipynb")


def photo(width, height):
    """A smooth picture whose left upper corner is red, and right lower one blue."""
    small = Image.new("RGB", (30, 20))
    for x in range(30):
        for y in range(20):
            small.putpixel((x, y), (255 - 8 * x, 100 + int(60 * math.sin(y / 4)), 12 * y))
    picture = small.resize((width, height), Image.BICUBIC)
    ImageDraw.Draw(picture).rectangle((0, 0, width // 10, height // 10), fill=(255, 0, 0))
    return picture


def images():
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: turn by 90 degrees to the right
    exif[0x010F] = "Camera"
    photo(3000, 2000).save(HERE / "turned.jpg", quality=40, exif=exif)
    photo(3000, 2000).save(HERE / "progressive.jpg", quality=40, progressive=True)
    photo(300, 200).save(HERE / "small.jpg", quality=60)
    drawing = Image.new("RGBA", (2400, 300), (0, 0, 0, 0))
    ImageDraw.Draw(drawing).ellipse((100, 50, 2300, 250), fill=(0, 128, 0, 255))
    drawing.save(HERE / "wide.png", optimize=True)
    photo(64, 48).save(HERE / "lossy.webp", quality=50)
    photo(64, 48).save(HERE / "lossless.webp", lossless=True)
    frames = [Image.new("RGB", (2100, 8), color) for color in ("red", "green", "blue")]
    frames[0].save(HERE / "moving.gif", save_all=True, append_images=frames[1:], duration=100)
    Image.new("P", (5, 4), 3).save(HERE / "still.gif")
    Image.new("1", (20000, 20000)).save(HERE / "huge.png", optimize=True)


images()
notebook()
