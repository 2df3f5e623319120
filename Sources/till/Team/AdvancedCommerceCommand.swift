import AppStore
import ArgumentParser
import Foundation
import HTTPSupport

struct AdvancedCommerceCommand: ServiceCaller {
    static let configuration = CommandConfiguration(
        "advanced-commerce", "Change a purchase that your server has described, by Apple's Advanced Commerce API.",
        """
        A running service with a key of App Store Connect asks the App Store, and records the request in the audit log. The request \
        is Apple's, such as a SubscriptionPriceChangeRequest for changePrice; the service adds a requestInfo that it lacks. --json \
        prints the signed answer.
        """,
        examples: """
            till advanced-commerce 2000000000000001 cancel --reason "Asked by phone"
            till advanced-commerce 2000000000000001 changePrice price.json --reason Raise
            """)

    @Argument(help: "The transaction.")
    var transaction: String

    @Argument(help: "cancel, changeMetadata, changePrice, migrate, revoke or requestRefund.")
    var operation: String

    @Argument(help: .value("file", "The JSON of the request (default: an empty object)."))
    var request: String?

    @Option(help: .reason)
    var reason: String

    @OptionGroup var call: CallOptions

    private struct Body: Encodable, Sendable {
        let request: JSONContent
        let reason: String
    }

    func perform() async throws {
        let content = try request.map { try JSONContent(requestIn: $0) } ?? .object([:])
        let path = [transaction, "advanced-commerce", operation].map { HTTPServiceConnection.segment($0) }
        let answer: JSONContent = try await post(
            "/v1/transactions/\(path.joined(separator: "/"))", Body(request: content, reason: reason))
        try terminal.result("The App Store accepted \(operation) of \(transaction).", answer)
    }
}
