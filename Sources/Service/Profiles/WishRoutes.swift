import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for the wish lists of users.
struct WishRoutes: Sendable {
    let profiles: ProfileService
    let products: ProductRoutes
    let subjects: Subjects

    /// - Parameter group: Routes under `/v1/users/:user`.
    func addForBackEnds(to group: RouterGroup<ServiceContext>) {
        addReading(to: group.for(.backEnd(.read)))
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        let own = group.for(.app)
        addReading(to: own)
        own.put("wishes/:product") { request, context in
            let user = try context.requiredUser
            let product = try products.productForSale(request, context).productIdentifier
            try await profiles.wish(for: product, by: user, newcomers: context.newcomers(for: request))
            return HTTPResponse.Status.noContent
        }
        // A wish can also be removed if the catalog no longer has the product.
        own.delete("wishes/:product") { _, context in
            let (user, product) = (try context.requiredUser, try context.parameters.text("product"))
            try await profiles.removeWish(for: product, of: user)
            return HTTPResponse.Status.noContent
        }
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.get("wishes") { request, context in
            let user = try subjects.user(request, context)
            let userState = try await profiles.productState(of: user)
            return try products.list(request, context, of: userState, wishedOnly: true)
        }
    }
}
