import Foundation
import Proofs

/// A picture of an item: an SVG file `COLLECTION-NUMBER.svg` in the folder `Art` beside the catalog's files, or an upload.
package struct Picture: Hashable, Sendable {
    /// The name of the pictures' folder.
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
    ///   - formats: The allowed formats.
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

    /// The pictures in a catalog's folder; empty if it has no such folder. Files whose names begin with a dot are ignored.
    ///
    /// - Throws: `CatalogError` for a file that belongs to no item, cannot be read, is too large or is not an SVG.
    static func all(in catalog: URL, of items: some Sequence<Item>) throws(CatalogError) -> [Item: Picture] {
        let folder = catalog.appending(path: Self.folder, directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [:] }
        // The path, because Foundation on Linux returns an empty list for the URL of an unreadable folder.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw CatalogError(file: folder.path, reason: "it is not a readable folder")
        }
        let known = Dictionary(items.map { ("\($0.collection)-\($0.number).svg", $0) }) { first, _ in first }
        var pictures: [Item: Picture] = [:]
        for name in names.sorted() where !name.hasPrefix(".") {
            let file = folder.appending(path: name, directoryHint: .notDirectory)
            guard let item = known[name] else {
                throw CatalogError(
                    file: file.path, reason: "it is the picture of no item; name it after one, such as sprout-1.svg")
            }
            pictures[item] = try Picture(bytes: try CatalogReader.bytes(of: file), file: file.path, among: [.svg])
        }
        return pictures
    }
}
