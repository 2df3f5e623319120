import HTTPSupport
import Hummingbird

/// The operations that a setting of `till serve` turns on. While it is off, they answer `featureOff`.
package struct OptionalOperations: Sendable {
    /// The option that turns them on, with an example of its value.
    package let option: String
    /// They are on together, so the first one tells it.
    package let operations: [APIOperation]

    private init(_ option: String, _ operations: [APIOperation]) {
        self.option = option
        self.operations = operations
    }

    /// The links of `accounts` need a mailer, too, so they follow.
    package static let all = [
        OptionalOperations("--accounts", APIOperation.accounts),
        OptionalOperations("--mail-server smtps://mail.example.com", APIOperation.mailedLinks),
        OptionalOperations("--catalog-administration", APIOperation.catalogAdministration),
        OptionalOperations("--figures", APIOperation.figures),
        OptionalOperations("--google-notifications-audience URL", APIOperation.googlePlay),
        OptionalOperations("--live-events", APIOperation.events),
        OptionalOperations("--profiles", APIOperation.profiles),
        OptionalOperations("--seed-app", APIOperation.seedApp),
        OptionalOperations("--webhooks", APIOperation.webhooks),
    ]

    /// Adds a refusal for each operation that has no route.
    ///
    /// - Parameters:
    ///   - routes: The method and path of each route.
    ///   - group: The group of an operation: with authentication, or without.
    static func addRefusals(
        besides routes: Set<String>, to group: (_ isAuthenticated: Bool) -> RouterGroup<ServiceContext>
    ) {
        var present = routes
        for feature in all {
            guard let first = feature.operations.first, !present.contains(first.route) else { continue }
            for operation in feature.operations where present.insert(operation.route).inserted {
                group(operation.needsCaller).on(operation) { _, _ -> Response in
                    throw Problem.featureOff(feature.option)
                }
            }
        }
    }
}
