import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A notification in the outbox, with its attempts. A class, because the compiler crashes on a wide value in an async closure.
package final class QueuedNotification: Sendable {
    /// The number of the message (`messageId`).
    package let number: Int64
    package let date: Timestamp
    package let notification: DeveloperNotification
    package let attempts: Int
    /// The machine's time of the next attempt; nil if it was delivered or dropped, or if nobody is to be notified.
    package let nextAttempt: Timestamp?
    /// The deliveries that follow a successful one.
    let repeats: Int

    fileprivate init(_ row: Row) throws {
        (number, date, notification) = (row["number"], row["date"], try LocalRecord.value(row["record"]))
        (attempts, nextAttempt, repeats) = (row["attempts"], row["next_attempt"], row["repeats"])
    }
}

/// The address to which Pub/Sub pushes, and the identity that it states.
package struct PushSettings: Codable, Hashable, Sendable {
    /// The standard account of pushed tokens.
    package static let standardEmail = "push@till-local-play.iam.gserviceaccount.com"

    package var endpoint: URL
    /// The audience of the tokens; nil for the address.
    package var audience: String?
    /// The account of the tokens.
    package var email = standardEmail

    package init(endpoint: URL) {
        self.endpoint = endpoint
    }
}

/// Real-time developer notifications: an outbox, in the order of what happened.
extension PlayBooks {
    private static let settingsName = "push"
    /// The shortest and the longest pause between attempts, in seconds (Pub/Sub's retry policy).
    private static let pauses: ClosedRange<Int64> = 10...600

    package func pushSettings() throws -> PushSettings? {
        try database.record("SELECT value FROM setting WHERE name = \(Self.settingsName)")
    }

    /// Sets the receiver of notifications. Earlier ones are not sent to it.
    package func set(_ settings: PushSettings?) throws {
        try database.execute(literal: "DELETE FROM setting WHERE name = \(Self.settingsName)")
        guard let settings else { return }
        try database.insert(["name": Self.settingsName, "value": try LocalRecord.text(settings)], into: "setting")
    }

    /// Adds a notification to the outbox, with the fault that is next.
    ///
    /// - Parameter account: The customer whom it is about; nil for a test.
    func notify(
        _ packageName: String, of account: String?, at time: Timestamp, _ fill: (inout DeveloperNotification) -> Void
    ) throws {
        var notification = DeveloperNotification(version: DeveloperNotification.version, packageName: packageName)
        notification.eventTimeMillis = Int64Text(value: time.millisecondsSince1970)
        fill(&notification)
        let fault = try nextNotificationFault()
        let isSent = try fault != .drop && pushSettings() != nil
        // A delay follows the clock of the customer, so that a test moves it by hand.
        let notBefore: Timestamp? = if case .delay(let seconds) = fault { time.adding(seconds: seconds) } else { nil }
        try database.insert(
            [
                "date": time, "account": account, "record": try LocalRecord.text(notification),
                "next_attempt": isSent ? machineTime : nil,
                "not_before": notBefore, "comes_after_next": fault == .reorder, "repeats": fault == .duplicate ? 1 : 0,
            ], into: "notification")
    }

    /// Sends a notification once more, with its number, as Pub/Sub may do.
    ///
    /// - Throws: `PlayError` for an unknown one, and without a receiver.
    package func replay(_ number: Int64) throws {
        guard try pushSettings() != nil else {
            throw PlayError.invalidAction(
                "Nobody is notified. Name a receiver at the start: `till play --notifications-url http://127.0.0.1:3000/google`."
            )
        }
        try database.execute(
            literal: """
                UPDATE notification SET next_attempt = \(machineTime), not_before = NULL,
                    comes_after_next = FALSE
                WHERE number = \(number)
                """)
        guard database.changesCount > 0 else { throw PlayError.notificationNotFound(number) }
    }

    package func sendTestNotification(of packageName: String) throws {
        guard try hasApp(packageName) else { throw PlayError.appNotFound(packageName) }
        try notify(packageName, of: nil, at: now) {
            $0.testNotification = .init(version: DeveloperNotification.version)
        }
    }

    /// The notifications, newest first.
    package func notifications(limit: Int = 1000) throws -> [QueuedNotification] {
        try fetch("true ORDER BY number DESC LIMIT \(limit)")
    }

    /// The notifications after one, the oldest first.
    package func notifications(after number: Int64) throws -> [QueuedNotification] {
        try fetch("number > \(number) ORDER BY number")
    }

    /// The notifications whose attempt is due, the oldest first.
    package func dueNotifications(limit: Int) throws -> [QueuedNotification] {
        try fetch(
            """
            next_attempt <= \(machineTime)
                AND coalesce(not_before, 0) <= coalesce(
                    (SELECT \(machineTime) + time_offset FROM account_clock WHERE account = notification.account), \(now))
                AND (NOT comes_after_next OR EXISTS (
                    SELECT 1 FROM notification AS follower
                    WHERE follower.number = (
                        SELECT min(number) FROM notification AS later WHERE later.number > notification.number)
                        AND (follower.next_attempt IS NULL OR follower.attempts > 0)))
            ORDER BY number LIMIT \(limit)
            """)
    }

    /// Records an attempt, unless a replay was requested meanwhile. A failed one is repeated after a pause that grows.
    package func recordAttempt(on queued: QueuedNotification, isDelivered: Bool) throws {
        let pause = min(Self.pauses.upperBound, Self.pauses.lowerBound << Int64(min(queued.attempts, 6)))
        let isRepeated = isDelivered && queued.repeats > 0
        let next = isRepeated ? machineTime : isDelivered ? nil : machineTime.adding(seconds: pause)
        try database.execute(
            literal: """
                UPDATE notification SET attempts = attempts + 1, next_attempt = \(next),
                    repeats = \(queued.repeats - (isRepeated ? 1 : 0))
                WHERE number = \(queued.number) AND next_attempt = \(queued.nextAttempt)
                """)
    }

    private func fetch(_ condition: SQL) throws -> [QueuedNotification] {
        try SQLRequest<Row>("SELECT * FROM notification WHERE \(condition)").fetchAll(database)
            .map { try QueuedNotification($0) }
    }
}

/// The identity tokens of pushed notifications (OpenID Connect), and the key with which a server verifies them.
extension PlayBooks {
    private static let issuer = "https://accounts.google.com"
    /// The numeric identifier of the account.
    private static let subject = "100000000000000000001"
    private static let lifetime: Int64 = 3600

    /// A token for a push, signed with RS256. It begins and ends by the machine's clock.
    func identityToken(_ settings: PushSettings) throws -> String {
        let key = try keys.key(.identityTokens)
        let start = machineTime.secondsSince1970
        let header: JSONValue = .object([
            "alg": .string("RS256"), "kid": .string(try Self.identifier(of: key.publicKey)), "typ": .string("JWT"),
        ])
        let claims: JSONValue = .object([
            "aud": .string(settings.audience ?? settings.endpoint.absoluteString), "azp": .string(Self.subject),
            "email": .string(settings.email), "email_verified": .bool(true), "exp": .integer(start + Self.lifetime),
            "iat": .integer(start), "iss": .string(Self.issuer), "sub": .string(Self.subject),
        ])
        let signed = [header, claims].map { Base64.encode($0.compactBytes, .urlSafe) }.joined(separator: ".")
        return signed + "." + Base64.encode(try key.signRSA(Array(signed.utf8), digest: .sha256), .urlSafe)
    }

    /// The keys in PEM by their identifiers (`/oauth2/v1/certs`).
    func identityKeys() throws -> [String: String] {
        let key = try keys.key(.identityTokens).publicKey
        return [try Self.identifier(of: key): try key.pem()]
    }

    /// The keys as a JWK Set (`/oauth2/v3/certs`).
    func identityKeySet() throws -> JSONValue {
        let key = try keys.key(.identityTokens).publicKey
        let (modulus, exponent) = try Self.numbers(of: key)
        return .object([
            "keys": .array([
                .object([
                    "alg": .string("RS256"), "e": .string(Base64.encode(exponent, .urlSafe)),
                    "kid": .string(try Self.identifier(of: key)), "kty": .string("RSA"),
                    "n": .string(Base64.encode(modulus, .urlSafe)), "use": .string("sig"),
                ])
            ])
        ])
    }

    private static func identifier(of key: PublicKey) throws -> String {
        DigestAlgorithm.sha256.digest(of: Array(try key.informationText().utf8)).prefix(20).hexadecimal
    }

    /// The sizes in the SubjectPublicKeyInfo of a key of 2048 bits: the whole, the bytes before the modulus, the modulus.
    private static let sizes = (information: 294, prefix: 33, modulus: 256)

    private static func numbers(of key: PublicKey) throws -> (modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        guard let information = Base64.decode(try key.informationText().utf8), information.count == sizes.information
        else {
            throw PlayError.signingFailed("the key of identity tokens does not have 2048 bits")
        }
        let modulus = information.dropFirst(sizes.prefix).prefix(sizes.modulus)
        return (modulus, information.suffix(3))
    }
}
