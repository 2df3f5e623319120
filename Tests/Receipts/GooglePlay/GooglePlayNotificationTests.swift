import Proofs
import TestSupport
import Testing

/// Pushed messages, and the notifications of Google Play in them.
@Suite struct GooglePlayNotificationTests {
    private static func notification(_ member: String) throws -> GooglePlayNotification {
        try GooglePlayNotification(
            json: Array(
                #"{"version":"1.0","packageName":"com.example.garden","eventTimeMillis":"1790000000123",\#(member)}"#
                    .utf8))
    }

    /// The numbers and words of Google's reference. 14, 15, 16 and 21 have no word.
    private static let subscriptionTypes: [(Int, String)] = [
        (1, "RECOVERED"), (2, "RENEWED"), (3, "CANCELED"), (4, "PURCHASED"), (5, "ON_HOLD"), (6, "IN_GRACE_PERIOD"),
        (7, "RESTARTED"), (8, "PRICE_CHANGE_CONFIRMED"), (9, "DEFERRED"), (10, "PAUSED"),
        (11, "PAUSE_SCHEDULE_CHANGED"), (12, "REVOKED"), (13, "EXPIRED"), (14, "14"), (15, "15"), (16, "16"),
        (17, "ITEMS_CHANGED"), (18, "CANCELLATION_SCHEDULED"), (19, "PRICE_CHANGE_UPDATED"),
        (20, "PENDING_PURCHASE_CANCELED"), (21, "21"), (22, "PRICE_STEP_UP_CONSENT_UPDATED"), (99, "99"),
    ]

    @Test(arguments: subscriptionTypes)
    func `each number of a subscription has Google's word, or itself`(number: Int, word: String) throws {
        let read = try Self.notification(
            #""subscriptionNotification":{"version":"1.0","notificationType":\#(number),"purchaseToken":"t.1"}"#)
        #expect(read.type == "SUBSCRIPTION_\(word)")
        #expect(read.kind == .subscription && read.isSubscription == true && read.purchaseToken == "t.1")
        #expect(read.packageName == "com.example.garden")
        #expect(read.eventTime == Timestamp(millisecondsSince1970: 1_790_000_000_123))
    }

    @Test(arguments: [(1, "PURCHASED"), (2, "CANCELED"), (3, "3")])
    func `the numbers of one-time products are others`(number: Int, word: String) throws {
        let read = try Self.notification(
            #""oneTimeProductNotification":{"notificationType":\#(number),"purchaseToken":"t","sku":"gate"}"#)
        #expect(read.type == "ONE_TIME_PRODUCT_\(word)")
        #expect(read.kind == .oneTimeProduct && read.isSubscription == false)
    }

    @Test func `the other kinds have their own words`() throws {
        let voided = try Self.notification(
            #""voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1..2","productType":1,"refundType":2}"#)
        #expect(voided.type == "VOIDED_PURCHASE" && voided.subtype == "QUANTITY_BASED_PARTIAL_REFUND")
        #expect(voided.orderId == "GPA.1..2" && voided.isSubscription == true && voided.purchaseToken == "t")
        let ofProduct = try Self.notification(
            #""voidedPurchaseNotification":{"purchaseToken":"t","productType":2,"refundType":1}"#)
        #expect(ofProduct.isSubscription == false && ofProduct.subtype == "FULL_REFUND" && ofProduct.orderId == nil)
        let review = try Self.notification(
            #""pendingRefundReviewNotification":{"pendingRefundToken":"secret","orderId":"GPA.1","refundReason":7}"#)
        #expect(review.type == "PENDING_REFUND_REVIEW" && review.purchaseToken == nil)
        #expect(try Self.notification(#""testNotification":{"version":"1.0"}"#).type == "TEST")
        let new = try Self.notification(#""somethingNewNotification":{"x":1}"#)
        #expect(new.type == "SOMETHING_NEW" && new.kind == nil)
        #expect(try Self.notification(#""other":1"#).type == "UNKNOWN")
    }

    @Test func `the content has everything but the tokens`() throws {
        let read = try Self.notification(
            #""subscriptionNotification":{"notificationType":77,"purchaseToken":"secret","new":[{"purchaseToken":"x"}]}"#
        )
        #expect(
            read.content
                == #"{"version":"1.0","packageName":"com.example.garden","eventTimeMillis":"1790000000123","#
                + #""subscriptionNotification":{"notificationType":77,"new":[{}]}}"#)
        let review = try Self.notification(#""pendingRefundReviewNotification":{"pendingRefundToken":"secret"}"#)
        #expect(!review.content.contains("secret"))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"packageName":"com.example.garden","testNotification":{}}"#,
        #"{"packageName":"garden","eventTimeMillis":"1","testNotification":{}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"-1","testNotification":{}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"253402300800000","testNotification":{}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","testNotification":[]}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","testNotification":{},"subscriptionNotification":{}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","subscriptionNotification":{"purchaseToken":"t"}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","#
            + #""subscriptionNotification":{"notificationType":4294967296,"purchaseToken":"t"}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","subscriptionNotification":{"notificationType":2}}"#,
        #"{"packageName":"com.example.garden","eventTimeMillis":"1","#
            + #""subscriptionNotification":{"notificationType":2,"purchaseToken":"a b"}}"#,
        #"{"packageName":"com.example.garden","packageName":"com.example.other","eventTimeMillis":"1","testNotification":{}}"#,
    ]) func `another form is refused`(text: String) {
        #expect(throws: PushedFormError.self) { try GooglePlayNotification(json: Array(text.utf8)) }
    }

    @Test func `a token has a limit`() throws {
        func member(_ length: Int) -> String {
            let token = String(repeating: "a", count: length)
            return #""subscriptionNotification":{"notificationType":2,"purchaseToken":"\#(token)"}"#
        }
        #expect(try Self.notification(member(512)).purchaseToken?.utf8.count == 512)
        #expect(throws: PushedFormError.self) { try Self.notification(member(513)) }
    }

    @Test(arguments: [
        #"{"message":{"data":"e30=","messageId":"17","message_id":"17","publishTime":"2026-11-26T01:02:03.456Z"},"#
            + #""subscription":"projects/p/subscriptions/s","deliveryAttempt":2}"#,
        #"{"message":{"data":"e30=","message_id":"17","publish_time":"2026-11-26T01:02:03.456Z"}}"#,
    ]) func `a message is read in both spellings`(text: String) throws {
        let message = try PubSubMessage(json: Array(text.utf8))
        #expect(message.identifier == "17" && message.data == Array("{}".utf8))
        #expect(message.publishedAt == Timestamp(rfc3339: "2026-11-26T01:02:03.456Z"))
    }

    @Test(arguments: [
        "", "{}", #"{"message":[]}"#, #"{"message":{"messageId":"1"}}"#, #"{"message":{"data":"e30="}}"#,
        #"{"message":{"data":"e30","messageId":"1"}}"#, #"{"message":{"data":"e3 0=","messageId":"1"}}"#,
        #"{"message":{"data":"e30=","messageId":""}}"#, #"{"message":{"data":"e30=","messageId":"1 2"}}"#,
        #"{"message":{"data":"e30=","messageId":"1","message_id":"2"}}"#,
        #"{"message":{"data":"e30=","messageId":1}}"#,
        // What a subscription pushes that unwraps its messages.
        #"{"version":"1.0","packageName":"com.example.garden","eventTimeMillis":"1","testNotification":{}}"#,
    ]) func `another envelope is refused`(text: String) {
        #expect(throws: PushedFormError.self) { try PubSubMessage(json: Array(text.utf8)) }
    }

    @Test func `a message has a limit`() {
        let identifier = String(repeating: "1", count: 129)
        #expect(throws: PushedFormError.self) {
            try PubSubMessage(json: Array(#"{"message":{"data":"e30=","messageId":"\#(identifier)"}}"#.utf8))
        }
        let padding = String(repeating: " ", count: PubSubMessage.maximumSize)
        #expect(throws: PushedFormError.self) {
            try PubSubMessage(json: Array((#"{"message":{"data":"e30=","messageId":"1"}}"# + padding).utf8))
        }
    }
}
