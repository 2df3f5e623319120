import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Faults on demand: errors of the next calls of the Play Developer API, and disturbed notifications.
extension PlaySandboxRoutes {
    /// A class, because the compiler crashes on a wide value in an async closure.
    private final class NewCallFault: Decodable, Sendable {
        let reason: String
        let method: String?
        let token: String?
        let status: Int?
        let calls: Int?
        let isAfterwards: Bool?

        static let fields = ["reason", "method", "token", "status", "calls", "isAfterwards"]

        var fault: CallFault {
            var fault = CallFault(reason: reason)
            (fault.method, fault.token, fault.status) = (method, token, status)
            (fault.calls, fault.isAfterwards) = (calls ?? 1, isAfterwards ?? false)
            return fault
        }
    }

    private struct NewNotificationFaults: Decodable {
        let faults: [String]
    }

    private struct Faults: Encodable {
        let calls: [CallFault]
        let notifications: [String]

        init(_ books: PlayBooks) throws {
            calls = try books.callFaults()
            notifications = try books.notificationFaults().map(\.name)
        }
    }

    func addFaults(to group: RouterGroup<ServiceContext>) {
        group.get("faults") { _, _ in try await answer { try Faults($0) } }
        group.post("faults") { request, context in
            let body = try await body(request, context, NewCallFault.self, NewCallFault.fields)
            return try await answer(.created) { books in
                try books.add(body.fault)
                return try Faults(books)
            }
        }
        group.delete("faults") { _, _ in
            try await answer { books in
                try books.clearFaults()
                return try Faults(books)
            }
        }
        group.post("notifications/faults") { request, context in
            let names = try await body(request, context, NewNotificationFaults.self, ["faults"]).faults
            let faults = try names.map { name in
                guard let fault = NotificationFault(name: name) else {
                    throw JSONBody.invalid(
                        "Each of the field /faults has to be duplicate, reorder, drop or delay:SECONDS.")
                }
                return fault
            }
            return try await answer(.created) { books in
                try books.add(faults)
                return try Faults(books)
            }
        }
        group.post("notifications/:number/replay") { _, context in
            let number = try context.parameters.require("number", as: Int64.self)
            return try await answer { books in
                try books.replay(number)
                return ["messageId": String(number)]
            }
        }
    }
}

extension PlayBooks {
    /// Adds a fault for the next calls, after those that are already there.
    ///
    /// - Throws: `PlayError`, `invalidAction`, for a method or a reason that the Play does not know, and for a value out of range.
    package func add(_ fault: CallFault) throws {
        if let method = fault.method, !PublisherMethod.all.contains(where: { $0.identifier == method }) {
            throw PlayError.invalidAction(
                "The local Play has no method \"\(method.prefix(100))\". Use a name of Google's, such as purchases.subscriptionsv2.get."
            )
        }
        guard fault.error != nil else {
            let reasons = PublisherError.documented.map(\.reason).joined(separator: ", ")
            throw PlayError.invalidAction(
                "\"\(fault.reason.prefix(100))\" is no documented reason. Use one of \(reasons).")
        }
        guard CallFault.calls.contains(fault.calls),
            fault.status.map({ CallFault.statuses.contains($0) }) ?? true
        else {
            throw PlayError.invalidAction(
                "A fault fails \(CallFault.calls.lowerBound) to \(CallFault.calls.upperBound) calls, with a status from "
                    + "\(CallFault.statuses.lowerBound) to \(CallFault.statuses.upperBound).")
        }
        try set(try callFaults() + [fault])
    }
}
