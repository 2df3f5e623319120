import HTTPSupport
import Hummingbird
import Proofs

/// The purchase that a request names: a transaction in the path, with `?origin=` and `?app=` if several share the identifier.
struct NamedPurchase: Sendable {
    let identifier: String
    /// Nil if the request names none.
    let origin: Origin?
    /// The bundle identifier; nil if the request names none.
    let app: String?

    init(_ request: Request, _ context: ServiceContext) throws {
        identifier = try context.parameters.text("transaction")
        origin = try Origin.requested(by: request)
        app = try RequestedApps.name(of: request, context)
    }
}
