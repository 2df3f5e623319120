import Foundation
import Vocabulary

/// A picture of an item: an SVG file `COLLECTION-NUMBER.svg` in the folder `Art` beside the catalog's files, or an upload.
package struct Picture: Hashable, Sendable {
    package static let folder = "Art"
    /// The maximum size of a picture, in bytes.
    package static let maximumSize = 256 * 1024
    /// The maximum width and height of a picture, in pixels.
    package static let maximumSide = 4096

    package enum Format: String, Sendable, CaseIterable {
        case svg = "image/svg+xml"
        case png = "image/png"
        case jpeg = "image/jpeg"

        /// The media type (RFC 6838).
        package var mediaType: String { rawValue }

        var name: String {
            switch self {
            case .svg: "SVG"
            case .png: "PNG"
            case .jpeg: "JPEG"
            }
        }

        /// Detects the format of bytes; nil for any other format.
        init?(_ bytes: [UInt8]) {
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                self = .png
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                self = .jpeg
            } else if Self.svg(bytes) != nil {
                self = .svg
            } else {
                return nil
            }
        }

        /// The text after `<svg`; nil if the bytes are no text whose first element is `svg`.
        private static func svg(_ bytes: [UInt8]) -> Substring.UTF8View? {
            guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
            var rest = Substring(text.drop { $0 == "\u{FEFF}" }).utf8
            // An XML declaration, comments and a document type may precede it.
            while true {
                rest = rest.drop { $0 <= UInt8(ascii: " ") }
                let (start, end) =
                    rest.starts(with: "<!--".utf8)
                    ? ("<!--", "-->") : rest.starts(with: "<?".utf8) ? ("<?", "?>") : ("<!", ">")
                guard rest.starts(with: start.utf8) else { break }
                guard let found = Substring(rest.dropFirst(start.utf8.count)).firstRange(of: end) else { return nil }
                rest = rest[found.upperBound...]
            }
            guard rest.starts(with: "<svg".utf8), let next = rest.dropFirst(4).first else { return nil }
            let isName = next <= UInt8(ascii: " ") || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
            return isName ? rest.dropFirst(4) : nil
        }

        /// The size of a picture of the format; nil if its head does not state a valid one.
        fileprivate func size(of bytes: [UInt8]) -> PictureSize? {
            switch self {
            case .svg: Self.svg(bytes).flatMap { PictureSize(svg: $0) }
            case .png: PictureSize(png: bytes)
            case .jpeg: PictureSize(jpeg: bytes)
            }
        }
    }

    package let bytes: [UInt8]
    package let format: Format

    /// A new picture.
    ///
    /// - Parameters:
    ///   - file: The name of the file in error messages.
    /// - Throws: `CatalogError` if the bytes are too many, have no allowed format, or state too large a size or none.
    package init(bytes: [UInt8], file: String, among formats: [Format] = Format.allCases) throws(CatalogError) {
        guard bytes.count <= Self.maximumSize else {
            throw CatalogError(file: file, reason: "it is larger than \(Self.maximumSize / 1024) KB")
        }
        guard let format = Format(bytes), formats.contains(format) else {
            throw CatalogError(file: file, reason: "it is no \(formats.map(\.name).joined(separator: " or "))")
        }
        guard let size = format.size(of: bytes) else {
            throw CatalogError(file: file, reason: "its width and height cannot be read")
        }
        guard max(size.width, size.height) <= Self.maximumSide else {
            throw CatalogError(
                file: file,
                reason: "its size is \(size.width) × \(size.height) pixels; "
                    + "at most \(Self.maximumSide) × \(Self.maximumSide) are allowed"
            )
        }
        self.bytes = bytes
        self.format = format
    }

    /// A picture's file, before it is read.
    struct File {
        let name: String
        /// The path in error messages.
        let path: String
        let read: () throws(CatalogError) -> [UInt8]
    }

    /// The pictures in a catalog's folder; none if it has no such folder. Files whose names begin with a dot are ignored.
    ///
    /// - Throws: `CatalogError` for a folder that cannot be read.
    static func files(in catalog: URL) throws(CatalogError) -> [File] {
        let folder = catalog.appending(path: Self.folder, directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        // The path, because Foundation on Linux returns an empty list for the URL of an unreadable folder.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw CatalogError(file: folder.path, reason: "it is not a readable folder")
        }
        return names.sorted().filter { !$0.hasPrefix(".") }.map { name in
            let file = folder.appending(path: name, directoryHint: .notDirectory)
            return File(name: name, path: file.path) { () throws(CatalogError) in try CatalogReader.bytes(of: file) }
        }
    }

    /// The pictures of items.
    ///
    /// - Throws: `CatalogError` for a file that belongs to no item, cannot be read, is too large or is not an SVG.
    static func all(_ files: [File], of items: some Sequence<Item>) throws(CatalogError) -> [Item: Picture] {
        let known = Dictionary(items.map { ("\($0.collection)-\($0.number).svg", $0) }) { first, _ in first }
        var pictures: [Item: Picture] = [:]
        for file in files {
            guard let item = known[file.name] else {
                throw CatalogError(
                    file: file.path, reason: "it is the picture of no item; name it after one, such as sprout-1.svg")
            }
            pictures[item] = try Picture(bytes: try file.read(), file: file.path, among: [.svg])
        }
        return pictures
    }
}

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
