import Commerce
import Foundation

/// A picture of an item: an SVG file `COLLECTION-NUMBER.svg` in the folder `Art` beside the catalog's files, or an upload.
public struct Picture: Hashable, Sendable {
    /// The name of the pictures' folder.
    public static let folder = "Art"
    /// The maximum size of a picture, in bytes.
    public static let maximumSize = 256 * 1024

    public enum Format: String, Sendable, CaseIterable {
        case svg = "image/svg+xml"
        case png = "image/png"
        case jpeg = "image/jpeg"

        /// The media type (RFC 6838).
        public var mediaType: String { rawValue }

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
            } else if Self.isSVG(bytes) {
                self = .svg
            } else {
                return nil
            }
        }

        /// True if the bytes are a text whose first element is `svg`.
        private static func isSVG(_ bytes: [UInt8]) -> Bool {
            guard let text = String(validating: bytes, as: UTF8.self) else { return false }
            var rest = Substring(text.drop { $0 == "\u{FEFF}" }).utf8
            // An XML declaration, comments and a document type may precede it.
            while true {
                rest = rest.drop { $0 <= UInt8(ascii: " ") }
                let (start, end) =
                    rest.starts(with: "<!--".utf8)
                    ? ("<!--", "-->") : rest.starts(with: "<?".utf8) ? ("<?", "?>") : ("<!", ">")
                guard rest.starts(with: start.utf8) else { break }
                guard let found = Substring(rest.dropFirst(start.utf8.count)).firstRange(of: end) else { return false }
                rest = rest[found.upperBound...]
            }
            guard rest.starts(with: "<svg".utf8), let next = rest.dropFirst(4).first else { return false }
            return next <= UInt8(ascii: " ") || next == UInt8(ascii: ">") || next == UInt8(ascii: "/")
        }
    }

    public let bytes: [UInt8]
    public let format: Format

    /// - Parameter file: The name of the file in error messages.
    /// - Throws: `CatalogError` if the bytes are too many or have no known format.
    public init(bytes: [UInt8], file: String) throws(CatalogError) {
        try self.init(bytes: bytes, file: file, among: Format.allCases)
    }

    private init(bytes: [UInt8], file: String, among formats: [Format]) throws(CatalogError) {
        guard bytes.count <= Self.maximumSize else {
            throw CatalogError(file: file, reason: "it is larger than \(Self.maximumSize / 1024) KB")
        }
        guard let format = Format(bytes), formats.contains(format) else {
            throw CatalogError(
                file: file, reason: "it is no \(formats.map(\.name).joined(separator: " or "))")
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
            pictures[item] = try Picture(contentsOf: file)
        }
        return pictures
    }

    private init(contentsOf file: URL) throws(CatalogError) {
        try self.init(bytes: try CatalogReader.bytes(of: file), file: file.path, among: [.svg])
    }
}
