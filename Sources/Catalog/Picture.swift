import Commerce
import Foundation

/// What an item looks like: an SVG drawing, in the folder `Art` beside a catalog's files under the name
/// `COLLECTION-NUMBER.svg`.
public struct Picture: Hashable, Sendable {
    /// The name of the folder.
    public static let folder = "Art"
    /// Of a drawing, in bytes.
    public static let maximumSize = 256 * 1024

    public let bytes: [UInt8]

    /// The pictures there are; none where there is no such folder. Files whose names begin with a dot are nobody's.
    ///
    /// - Throws: `CatalogError` for a file that is the picture of none of the items, cannot be read, is too large or no SVG.
    static func all(in catalog: URL, of items: some Sequence<Item>) throws(CatalogError) -> [Item: Picture] {
        let folder = catalog.appending(path: Self.folder, directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [:] }
        // By its path: by its URL, Foundation on Linux takes a folder that cannot be read for an empty one.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw CatalogError(file: folder.path, reason: "it is no folder that can be read")
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
        bytes = try CatalogReader.bytes(of: file)
        guard bytes.count <= Self.maximumSize else {
            throw CatalogError(file: file.path, reason: "it is larger than \(Self.maximumSize / 1024) KB")
        }
        guard String(validating: bytes, as: UTF8.self)?.contains("<svg") == true else {
            throw CatalogError(file: file.path, reason: "it is no SVG")
        }
    }
}
