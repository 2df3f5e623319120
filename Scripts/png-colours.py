#!/usr/bin/env python3
"""Writes a screenshot with a palette of at most 64 colours, which a page of text needs: a third of its size.

    Scripts/png-colours.py FROM.png TO.png

It reads the PNG files of Chromium (PNG specification: 8 bits a channel, RGB or RGBA, not interlaced) without other packages.
"""

import collections
import struct
import sys
import zlib

COLOURS = 64


def chunks(data):
    """The kind and the content of each chunk."""
    position = 8
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        yield kind, data[position + 8:position + 8 + length]
        position += length + 12


def unfiltered(data, width, height, size):
    """The rows of pixels, of `size` bytes each, without the filters of section 9."""
    stride, previous, rows = width * size, bytearray(width * size), []
    for y in range(height):
        kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - size] if x >= size else 0
            above, corner = previous[x], previous[x - size] if x >= size else 0
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + above) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + above) // 2) & 255
            elif kind == 4:
                guess = left + above - corner
                distances = abs(guess - left), abs(guess - above), abs(guess - corner)
                nearest = left if distances[0] <= min(distances[1:]) else above if distances[1] <= distances[2] else corner
                row[x] = (row[x] + nearest) & 255
        rows.append(row)
        previous = row
    return rows


def palette(counts):
    """The colours that occur most, each different enough from the more frequent ones."""
    chosen = []
    for colour, _ in counts.most_common():
        if all(sum(abs(a - b) for a, b in zip(colour, other)) > 18 for other in chosen):
            chosen.append(colour)
        if len(chosen) == COLOURS:
            break
    return chosen


def main(source, target):
    data = open(source, "rb").read()
    parts = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or kind not in (2, 6) or interlaced:
        sys.exit(f"png-colours: {source} is no screenshot of Chromium.")
    size = 3 if kind == 2 else 4
    rows = unfiltered(zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT")), width, height, size)
    pixels = [[tuple(row[x:x + 3]) for x in range(0, len(row), size)] for row in rows]
    counts = collections.Counter(colour for row in pixels for colour in row)
    colours = palette(counts)
    nearest = {colour: min(range(len(colours)), key=lambda index: sum((a - b) ** 2 for a, b in zip(colour, colours[index]))) for colour in counts}
    packed = b"".join(b"\0" + bytes(nearest[colour] for colour in row) for row in pixels)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    with open(target, "wb") as file:
        file.write(data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
        file.write(chunk(b"PLTE", bytes(value for colour in colours for value in colour)))
        file.write(chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b""))


if __name__ == "__main__":
    main(*sys.argv[1:])
