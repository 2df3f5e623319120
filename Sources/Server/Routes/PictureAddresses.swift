import Catalog
import Commerce
import Foundation
import Signatures

/// Where a service has the pictures of a catalog's items: an address is another when the picture has changed.
public struct PictureAddresses: Sendable {
    /// The beginning of each picture's SHA-256.
    private let versions: [Item: String]

    public init(catalog: Catalog) {
        versions = catalog.pictures.mapValues { DigestAlgorithm.sha256.digest(of: $0.bytes).prefix(8).hexadecimal }
    }

    /// nil where an item has no picture.
    public subscript(item: Item) -> String? {
        versions[item].map { version in
            let collection = item.collection.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "/v1/pictures/\(collection)/\(item.number)?v=\(version)"
        }
    }

    func isVersion(_ version: String?, of item: Item) -> Bool {
        version != nil && versions[item] == version
    }
}
