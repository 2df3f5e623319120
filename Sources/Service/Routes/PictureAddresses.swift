import Catalog
import Foundation
import HTTPSupport
import Proofs

/// The addresses of the pictures of a catalog's items. A changed picture has a new address.
package struct PictureAddresses: Sendable {
    /// The pictures, and the first bytes of each one's SHA-256.
    private let versions: [Item: (picture: Picture, version: String)]

    /// - Parameter before: The addresses before the change. Digests of unchanged pictures are reused.
    package init(catalog: Catalog, before: PictureAddresses? = nil) {
        var versions: [Item: (Picture, String)] = [:]
        for (item, picture) in catalog.pictures {
            if let known = before?.versions[item], known.picture == picture {
                versions[item] = known
            } else {
                let digest = DigestAlgorithm.sha256.digest(of: picture.bytes)
                versions[item] = (picture, digest.prefix(8).hexadecimal)
            }
        }
        self.versions = versions
    }

    /// The address of an item's picture; nil if the item has none.
    package subscript(item: Item) -> String? {
        versions[item].map { _, version in
            let collection = item.collection.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "/v1/pictures/\(collection)/\(item.number)?v=\(version)"
        }
    }

    func isVersion(_ version: String?, of item: Item) -> Bool {
        version != nil && versions[item]?.version == version
    }
}
