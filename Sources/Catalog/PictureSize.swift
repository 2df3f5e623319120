/// The width and height of a picture in pixels, as its head states them.
///
/// A picture of a few bytes can state a size that takes gigabytes to show. No pixel is decoded to read it.
package struct PictureSize: Equatable, Sendable {
    package let width: Int
    package let height: Int

    init?(width: Int, height: Int) {
        guard width > 0, height > 0 else { return nil }
        self.width = width
        self.height = height
    }

    /// Reads the chunk `IHDR`, which comes first. Nil if the bytes are no PNG or end before its end.
    package init?(png bytes: [UInt8]) {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // The chunk has its length, its name, 13 bytes and a checksum.
        guard bytes.count >= 33, bytes.starts(with: signature + [0, 0, 0, 13] + Array("IHDR".utf8)) else { return nil }
        self.init(width: Self.number(bytes[16..<20]), height: Self.number(bytes[20..<24]))
    }

    /// Reads the frame header, which follows other segments. Nil if there is none before the image's data.
    init?(jpeg bytes: [UInt8]) {
        var rest = bytes.dropFirst(2)
        while rest.popFirst() == 0xFF {
            // More bytes 0xFF may precede a marker.
            rest = rest.drop { $0 == 0xFF }
            guard let marker = rest.popFirst() else { return nil }
            // These markers have no segment.
            if marker == 0x01 || (0xD0...0xD7).contains(marker) { continue }
            let length = Self.number(rest.prefix(2))
            guard !(0xD8...0xDA).contains(marker), length >= 2, rest.count >= length else { return nil }
            // Tables and extensions have the other markers of this range.
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                guard length >= 8 else { return nil }
                let lines = rest.dropFirst(3)
                self.init(width: Self.number(lines.dropFirst(2).prefix(2)), height: Self.number(lines.prefix(2)))
                return
            }
            rest = rest.dropFirst(length)
        }
        return nil
    }

    /// Reads the attributes of the first element. Without a length in pixels, the size is that which browsers assume.
    ///
    /// - Parameter text: The text after `<svg`. Nil if it is not well-formed or states an invalid size.
    init?(svg text: Substring.UTF8View) {
        guard let stated = SVGAttribute.values(in: text) else { return nil }
        var (width, height) = (Self.length(stated[.width]), Self.length(stated[.height]))
        // A missing length follows from the other one by the ratio of the box. The box alone has no pixels.
        if (width == nil) != (height == nil), let text = stated[.viewBox] {
            let box = text.split { $0 == "," || $0.isWhitespace }.map { Double($0) ?? .nan }
            guard box.count == 4 else { return nil }
            width = width ?? height.map { $0 * box[2] / box[3] }
            height = height ?? width.map { $0 * box[3] / box[2] }
        }
        self.init(rounding: width ?? 300, height ?? 150)
    }

    private init?(rounding width: Double, _ height: Double) {
        // NaN is not in the range.
        let range = 0...Double(Int32.max)
        guard range.contains(width), range.contains(height) else { return nil }
        self.init(width: Int(width.rounded(.up)), height: Int(height.rounded(.up)))
    }

    /// The units of CSS that are a number of pixels, in an image also those of the font.
    private static let pixels: [String: Double] = [
        "": 1, "px": 1, "pt": 96 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6,
        "em": 16, "ex": 8, "ch": 8, "cap": 16, "ic": 16, "lh": 20,
        "rem": 16, "rex": 8, "rch": 8, "rcap": 16, "ric": 16, "rlh": 20,
    ]

    /// A length of CSS in pixels: NaN if it is invalid, nil if it is missing or relative to the page.
    private static func length(_ text: String?) -> Double? {
        guard let text else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let word = words.first else { return .nan }
        guard word != "auto", word.last != "%" else { return nil }
        guard let last = word.lastIndex(where: { !$0.isLetter }), let number = Double(word[...last]) else {
            return .nan
        }
        // Browsers ignore units that they do not know.
        return pixels[word[word.index(after: last)...].lowercased()].map { number * $0 }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

/// The attributes of an SVG's first element that state its size.
private enum SVGAttribute: String, CaseIterable {
    case width, height, viewBox

    /// The longest value that can be a size, in bytes.
    private static let maximumLength = 256

    /// The values of the attributes. Nil if the element is not well-formed.
    ///
    /// - Parameter text: The text after the name of the element.
    static func values(in text: Substring.UTF8View) -> [Self: String]? {
        var values: [Self: String] = [:]
        var rest = text
        while true {
            rest = rest.drop(while: isSpace)
            guard let first = rest.first else { return nil }
            if first == UInt8(ascii: ">") || first == UInt8(ascii: "/") { return values }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && !isSpace($0) }
            rest = rest[name.endIndex...].drop(while: isSpace)
            guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
            rest = rest.drop(while: isSpace)
            guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = rest.firstIndex(of: quote)
            else { return nil }
            let value = rest[..<end]
            rest = rest[end...].dropFirst()
            // Names are compared by bytes, which takes linear time.
            guard let attribute = allCases.first(where: { name.elementsEqual($0.rawValue.utf8) }) else { continue }
            guard values[attribute] == nil, value.count <= maximumLength, value.allSatisfy({ $0 < 0x80 }) else {
                return nil
            }
            values[attribute] = String(Substring(value))
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: " ") }
}
