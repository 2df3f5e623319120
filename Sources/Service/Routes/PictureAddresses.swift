import Catalog
import Commerce
import Foundation
import HTTPSupport
import Signatures

/// Where a service has the pictures of a catalog's items: an address is another when the picture has changed.
public struct PictureAddresses: Sendable {
    /// The pictures, and the beginning of each one's SHA-256.
    private let versions: [Item: (picture: Picture, version: String)]

    /// - Parameter before: Those of the same catalog before it was changed, which spare the time of what is the same.
    public init(catalog: Catalog, before: PictureAddresses? = nil) {
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

    /// nil where an item has no picture.
    public subscript(item: Item) -> String? {
        versions[item].map { _, version in
            let collection = item.collection.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "/v1/pictures/\(collection)/\(item.number)?v=\(version)"
        }
    }

    func isVersion(_ version: String?, of item: Item) -> Bool {
        version != nil && versions[item]?.version == version
    }
}
