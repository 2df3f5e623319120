import HTTPSupport
import Hummingbird

/// The pages of the API explorer, from the service's OpenAPI document.
struct APIExplorer: Sendable {
    private let description: Result<APIDescription, any Error>
    private let isSecure: Bool

    /// - Parameter isSecure: True if clients reach the service over TLS.
    init(_ health: any HealthSource, isSecure: Bool) {
        description = Result { try APIDescription(try health.openAPI) }
        self.isSecure = isSecure
    }

    func add(to pages: ConsolePages) {
        pages.get("health/api") { _, _ in
            APIListPage(operations: try description.get().operations).page
        }
        pages.get("health/api/:operation") { request, context in
            let name = try context.parameters.text("operation")
            guard
                let operation = try description.get().operations.first(where: { $0.identifier.hasSameBytes(as: name) })
            else {
                throw Problem(
                    status: .notFound, code: "notFound", detail: "The API has no operation \"\(name)\".")
            }
            return APIOperationPage(operation: operation, address: address(of: request)).page
        }
    }

    /// The address of this service, as the browser reaches it.
    private func address(of request: Request) -> String {
        let host = request.head.authority ?? ""
        let isHost = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: ".-:[]".utf8.contains(byte)
            }
        }
        return (isSecure ? "https://" : "http://") + (isHost && !host.isEmpty ? host : "HOST")
    }
}
