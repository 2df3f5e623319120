import Foundation
import NIOCore
import Proofs
import TestSupport

/// Attack 7: large notifications that strangers have signed.
struct JunkNotifications: Attack {
    let name = "7, junk notifications"

    private static let strangers = 16
    /// The sizes of the padding in a payload, in bytes: the notification is larger than 16 KiB and smaller than 128 KiB.
    private static let junkPadding = [13_000, 70_000]
    /// Apple's notifications have about 20 KB.
    private static let genuinePadding = [0, 13_000]
    /// More notifications than the attack has time for.
    private static let genuineCount = 60

    private let junk: [ByteBuffer]

    init() throws {
        junk = try (0..<Self.strangers).flatMap { number in
            let chain = try TestChains.make(name: "Stranger \(number)")
            return try Self.junkPadding.map { try Self.request(signedBy: chain, padding: $0) }
        }
    }

    private static func request(
        signedBy chain: CertificateChain,
        padding: Int,
        fields: KeyValuePairs<String, String> = [:]
    ) throws -> ByteBuffer {
        let payload: JSONObject = [
            "notificationType": "TEST", "notificationUUID": .string(UUID().uuidString), "version": "2.0",
            "data": .object(["bundleId": .string(TestProofs.bundleIdentifier), "environment": "Sandbox"]),
            "signedDate": .integer(TestProofs.signedAt.millisecondsSince1970),
            "padding": .string(String(repeating: "x", count: padding)),
        ]
        let signed = try SignedJSON.sign(.object(payload), with: chain.leaf.key, chain: chain.certificates)
        return .request("POST", "/v1/notifications/apple", fields: fields, json: "{\"signedPayload\":\"\(signed)\"}")
    }

    /// Genuine notifications: with a chain that the service has seen before the attack, and with one that it has not.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        try [("notification", fixture.chain), ("first notification", fixture.unseenChain)].map { name, chain in
            let requests = try (0..<Self.genuineCount).map { number in
                try Self.request(
                    signedBy: chain, padding: Self.genuinePadding[number % Self.genuinePadding.count],
                    fields: ["Connection": "close"])
            }
            return Probe(
                name, every: .milliseconds(250), expecting: 200, requests, isWarmedUp: name == "notification")
        }
    }

    func start(by attacker: Attacker) async throws {
        attacker.hold(64, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(250)) { [junk] number in
            RepeatingHandler(first: number, pause: .milliseconds(4)) { junk[$0 % junk.count] }
        }
    }
}
