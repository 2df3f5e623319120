import Foundation
import GRDB
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

    func set(_ faults: [CallFault]) throws { try set(faults, Self.callFaults) }

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
        try SQLRequest<String>("SELECT value FROM setting WHERE name = \(name)").fetchOne(database)
            .map { try PlayRecord.value($0) } ?? []
    }

    private func set(_ faults: [some Encodable], _ name: String) throws {
        try database.execute(
            literal: """
                INSERT INTO setting (name, value) VALUES (\(name), \(try PlayRecord.text(faults)))
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """)
    }
}
