import AppStore
import Foundation
import GRDB
import Proofs
import Testing

/// The filters of the history of notifications.
@Suite struct NotificationFilterTests {
    /// A renewal of purchase 1 after a billing issue, delivered at the second attempt.
    private static func renewal() throws -> StoreNotification { try notification([.timedOut, .success]) }

    @Test(
        arguments: [
            ("{}", nil, true), (#"{"notificationType":"DID_RENEW"}"#, nil, true),
            (#"{"notificationType":"REFUND"}"#, nil, false),
            (#"{"notificationType":"DID_RENEW","notificationSubtype":"BILLING_RECOVERY"}"#, nil, true),
            (#"{"notificationType":"EXPIRED","notificationSubtype":"VOLUNTARY"}"#, nil, false),
            (#"{"transactionId":"1"}"#, ["1", "2"], true), (#"{"transactionId":"3"}"#, ["3"], false),
            (#"{"onlyFailures":true}"#, nil, false),
        ] as [(String, Set<String>?, Bool)])
    func `a filter includes what it names`(json: String, originals: Set<String>?, isIncluded: Bool) throws {
        let filter = try Self.request(json).filter()
        #expect(filter(try Self.renewal(), originals) == isIncluded)
    }

    @Test(arguments: [([.timedOut, .noResponse], true), ([], false)] as [([SendAttemptResult], Bool)])
    func `a notification that was never sent has not failed`(results: [SendAttemptResult], isIncluded: Bool) throws {
        let filter = try Self.request(#"{"onlyFailures":true}"#).filter()
        #expect(filter(try Self.notification(results), nil) == isIncluded)
    }

    @Test(
        arguments: [
            (#"{"transactionId":"1","notificationType":"REFUND"}"#, .multipleFiltersSupplied),
            (#"{"notificationType":"REFUNDED"}"#, .invalidNotificationType),
            (#"{"notificationSubtype":"VOLUNTARY"}"#, .invalidNotificationType),
            (#"{"notificationType":"EXPIRED","notificationSubtype":"NEVER"}"#, .invalidNotificationType),
            (#"{"notificationType":"DID_RENEW","notificationSubtype":"VOLUNTARY"}"#, .invalidNotificationType),
        ] as [(String, ServerAPIError)])
    func `filters that are unknown or do not go together are refused`(json: String, error: ServerAPIError) throws {
        let request = try Self.request(json)
        #expect(throws: error) { _ = try request.filter() }
    }

    private static func request(_ json: String) throws -> NotificationHistoryRequest {
        try JSONDecoder().decode(NotificationHistoryRequest.self, from: Data(json.utf8))
    }

    private static func notification(_ results: [SendAttemptResult]) throws -> StoreNotification {
        let row: Row = [
            "number": 1, "uuid": UUID().uuidString, "type": "DID_RENEW", "subtype": "BILLING_RECOVERY",
            "transaction_id": "2", "original_transaction_id": "1", "date": RuleFixture.now, "payload": "",
            "next_attempt_date": nil,
        ]
        var notification = try #require(StoreNotification(row))
        notification.sendAttempts = results.map {
            StoreNotification.SendAttempt(["date": RuleFixture.now, "result": $0.rawValue])
        }
        return notification
    }
}
