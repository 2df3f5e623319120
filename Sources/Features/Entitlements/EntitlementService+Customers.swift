import Foundation
import Ledger
import Proofs

/// The use cases of the App Store's notifications.
extension EntitlementService {
    /// A verified notification that is not applied yet.
    package struct VerifiedNotification: Sendable {
        fileprivate let record: NotificationRecord
        fileprivate let stated: Claim?

        package var request: ClaimRequest { .notify(record, stating: stated) }
    }

    /// Stores and applies a notification of the App Store (App Store Server Notifications V2).
    ///
    /// A duplicate changes nothing. Of several statements about one transaction, the one signed last wins, in any order of
    /// arrival.
    package func receive(notification proof: [UInt8]) async throws -> NotificationOutcome {
        try await receive(try notification(in: proof))
    }

    /// Verifies a notification. This is the first half, which uses the processor, not the ledger.
    package func notification(in proof: [UInt8]) throws(RedemptionError) -> VerifiedNotification {
        let verified = try verify(proof)
        guard case .notification(let notification) = verified.content else { throw .noNotification }
        return VerifiedNotification(
            record: NotificationRecord(
                app: try bundleIdentifier(of: verified), origin: verified.origin,
                notificationUUID: notification.notificationUUID,
                type: notification.notificationType.rawValue, subtype: notification.subtype?.rawValue,
                signedAt: notification.signedDate, proofDigest: verified.digest,
                content: notification.contentWithoutProofs),
            stated: try verified.notifiedPurchase.map { purchase throws(RedemptionError) in
                try claims(verified, proof).claim(purchase, renewal: verified.renewal)
            })
    }

    /// Stores and applies a verified notification. This is the second half, in one transaction of the ledger.
    package func receive(_ notification: VerifiedNotification) async throws -> NotificationOutcome {
        try await outcome(of: notification.request)
    }

    func outcome(of request: ClaimRequest) async throws -> NotificationOutcome {
        guard case .recorded(let outcome) = try await claims.answer(request) else { throw RedemptionError.userUnknown }
        return outcome
    }
}
