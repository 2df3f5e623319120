import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// Routes for the pictures of items. They are public, because image views send no key.
struct PictureRoutes: OperationGroup {
    static let tag = OperationTag(
        "Pictures", "The pictures of items.",
        [.listPictures, .readPicture])
    let parts: ServiceParts

    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.listPictures) { request, context in
            let addresses = catalogs.all(of: try RequestedApps.name(of: request, context)).reduce(
                into: [Item: String]()
            ) {
                addresses, view in
                for item in view.catalog.pictures.keys where addresses[item] == nil {
                    addresses[item] = view.pictures[item]
                }
            }
            let pictures = addresses.sorted { $0.key < $1.key }.map { PictureResource(item: $0.key, picture: $0.value) }
            return JSONAnswer.cacheable(
                try List(pictures).json(), for: request, headers: [.cacheControl: "public, no-cache"])
        }
        group.on(.readPicture) { request, context in
            try picture(
                try context.parameters.text("collection"), try context.parameters.text("number"), request, context)
        }
    }

    private func picture(_ collection: String, _ number: String, _ request: Request, _ context: ServiceContext) throws
        -> Response
    {
        guard let number = Int(number) else { throw Self.notFound }
        let item = Item(collection: collection, number: number)
        let views = catalogs.all(of: try RequestedApps.name(of: request, context))
            .filter { $0.catalog.pictures[item] != nil }
        // An address with a version names one picture, in any app.
        let version = try request.query("v")
        guard let view = views.first(where: { $0.pictures.isVersion(version, of: item) }) ?? views.first,
            let picture = view.catalog.pictures[item]
        else { throw Self.notFound }
        let isOfVersion = view.pictures.isVersion(version, of: item)
        var headers: HTTPFields = [
            // An unknown version may belong to a change that this service has not read yet.
            .cacheControl: isOfVersion
                ? "public, max-age=31536000, immutable" : version == nil ? "public, max-age=300" : "no-cache",
            .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            .xContentTypeOptions: "nosniff",
        ]
        // Web pages of any origin may show the picture.
        headers[.accessControlAllowOrigin] = "*"
        return CacheableAnswer(picture.bytes, type: picture.format.mediaType).response(to: request, headers: headers)
    }

    private static let notFound = Problem(
        status: .notFound, code: "pictureNotFound", detail: "The catalog has no picture of this item.")
}

/// An item of the catalog with the address of its picture.
package struct PictureResource: AnswerObject, Decodable, Listed, Sendable {
    package static let listName = "pictures"
    package static let answerFields = AnswerFields<Self>("An item and its picture.", named: "Picture") {
        $0.field("item", \.item)
        $0.field("picture", "The path of the picture, with its version. A changed picture has a new path.", \.picture)
    }

    package let item: Item
    package let picture: String
}

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
