import Catalog
import Commerce
import HTTPSupport
import HTTPTypes
import Hummingbird
import Wire

/// What items look like, for everybody: a picture is no secret, and what shows one sends no key.
struct PictureRoutes: Sendable {
    let current: CurrentCatalogView

    func add(to group: RouterGroup<ServiceContext>) {
        group.get("pictures") { request, _ in
            let view = current.view
            return try JSONAnswer.cacheable(
                PictureList(
                    pictures: view.catalog.pictures.keys.sorted().map {
                        PictureResource(item: $0, picture: view.pictures[$0])
                    }),
                for: request, headers: [.cacheControl: "public, no-cache"])
        }
        group.get("pictures/:collection/:number") { request, context in
            try picture(
                try context.parameters.text("collection"), try context.parameters.text("number"), request)
        }
    }

    private func picture(_ collection: String, _ number: String, _ request: Request) throws -> Response {
        let view = current.view
        guard let number = Int(number) else { throw Self.notFound }
        let item = Item(collection: collection, number: number)
        guard let picture = view.catalog.pictures[item] else { throw Self.notFound }
        // An address with a version is of this picture alone.
        let version = try request.query("v")
        let isOfVersion = view.pictures.isVersion(version, of: item)
        var headers: HTTPFields = [
            // One that is not known may be of a change that this service is yet to see.
            .cacheControl: isOfVersion
                ? "public, max-age=31536000, immutable" : version == nil ? "public, max-age=300" : "no-cache",
            .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            .xContentTypeOptions: "nosniff",
        ]
        // Shown on the pages of whoever has the app.
        headers[.accessControlAllowOrigin] = "*"
        return CacheableAnswer.response(
            picture.bytes, type: picture.format.mediaType, for: request, headers: headers)
    }

    private static let notFound = Problem(
        status: .notFound, code: "pictureNotFound", detail: "The catalog has no picture of this item.")
}
