import GRDB
import HTTPSupport
import Proofs

/// A fault of the next calls of the Play Developer API. It tests the server that calls.
package struct CallFault: Codable, Hashable, Sendable {
    /// The calls that one fault may fail.
    package static let calls: ClosedRange<Int> = 1...10_000
    /// The statuses of errors.
    package static let statuses: ClosedRange<Int> = 400...599

    /// Google's identifier of the method, such as `purchases.subscriptionsv2.get`; nil for each.
    package var method: String?
    /// The purchase token in the path; nil for calls about any.
    package var token: String?
    /// The reason of a documented error, such as `backendError`.
    package let reason: String
    /// Nil for the status that Google documents.
    package var status: Int?
    /// True if the call does its work, and only its answer is lost.
    package var isAfterwards = false
    /// The calls that still fail.
    package var calls = 1

    package init(reason: String) {
        self.reason = reason
    }

    /// The answer of the calls; nil for an unknown reason.
    var error: PublisherError? {
        PublisherError.documented.first { $0.reason == reason }.map { error in status.map(error.with) ?? error }
    }
}

/// The faults on demand, which end with a reset.
extension PlayBooks {
    private static let callFaults = "callFaults"
    private static let notificationFaults = "notificationFaults"

    /// The faults of calls, in the order in which they were added.
    package func callFaults() throws -> [CallFault] { try faults(Self.callFaults) }

    private func set(_ faults: [CallFault]) throws { try set(faults, Self.callFaults) }

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

    /// The fault of a call, of which one call less is left.
    func nextFault(ofMethod identifier: String, token: String?) throws -> CallFault? {
        var faults = try callFaults()
        let index = faults.firstIndex {
            ($0.method ?? identifier) == identifier && ($0.token?.hasSameBytes(as: token ?? "") ?? true)
        }
        guard let index else { return nil }
        let fault = faults[index]
        faults[index].calls -= 1
        try set(faults.filter { $0.calls > 0 })
        return fault
    }

    /// The faults of the next notifications, one for each.
    package func notificationFaults() throws -> [NotificationFault] { try faults(Self.notificationFaults) }

    /// Adds faults for the next notifications, after those that are already there.
    package func add(_ faults: [NotificationFault]) throws {
        try set(try notificationFaults() + faults, Self.notificationFaults)
    }

    func nextNotificationFault() throws -> NotificationFault? {
        let faults = try notificationFaults()
        if !faults.isEmpty { try set(Array(faults.dropFirst()), Self.notificationFaults) }
        return faults.first
    }

    package func clearFaults() throws {
        try database.execute(
            literal: "DELETE FROM setting WHERE name IN (\(Self.callFaults), \(Self.notificationFaults))")
    }

    private func faults<Fault: Decodable>(_ name: String) throws -> [Fault] {
        try database.record("SELECT value FROM setting WHERE name = \(name)") ?? []
    }

    private func set(_ faults: [some Encodable], _ name: String) throws {
        try database.insert(
            ["name": name, "value": try LocalRecord.text(faults)], into: "setting", replacing: "name")
    }
}
