import Catalog
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for the pictures of items. They are public, because image views send no key.
struct PictureRoutes: Sendable {
    let catalogs: CatalogViews

    func add(to group: RouterGroup<ServiceContext>) {
        group.get("pictures") { request, context in
            let addresses = catalogs.all(of: try RequestedApps.name(of: request, context)).reduce(
                into: [Item: String]()
            ) {
                addresses, view in
                for item in view.catalog.pictures.keys where addresses[item] == nil {
                    addresses[item] = view.pictures[item]
                }
            }
            return try JSONAnswer.cacheable(
                PictureList(
                    pictures: addresses.sorted { $0.key < $1.key }.map {
                        PictureResource(item: $0.key, picture: $0.value)
                    }),
                for: request, headers: [.cacheControl: "public, no-cache"])
        }
        group.get("pictures/:collection/:number") { request, context in
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
        return CacheableAnswer.response(
            picture.bytes, type: picture.format.mediaType, for: request, headers: headers)
    }

    private static let notFound = Problem(
        status: .notFound, code: "pictureNotFound", detail: "The catalog has no picture of this item.")
}
