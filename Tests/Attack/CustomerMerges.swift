import Entitlements
import Foundation
import Ledger
import NIOCore
import Receipts
import TestSupport

/// Attack 12: log-ins that move as many records as possible, or that are refused after counting them, and further ids of one
/// customer.
struct CustomerMerges: Attack {
    let name = "12, merges of customers"
    let serviceOptions =
        DoorRequests.serviceOptions + [
            "--webhooks", "--webhook-private-addresses", "--address-requests-per-minute", "10000000",
        ]
    let addressCount = 8
    /// The merges rewrite the rows of all large customers.
    let maximumGrowth = 64 << 20

    private static let largeCustomers = 8
    /// A purchase is two records: the transaction and the time for which it gives the item. A few records are left for the rest.
    private static let purchasesOfLarge = LogIn.maximumRecords / 2 - 10
    /// A customer with too many records to move.
    private static let giant = DoorRequests.anonymous()
    /// A known customer with many further ids.
    private static let victim = "victim"

    private let large = (0..<largeCustomers).map { _ in DoorRequests.anonymous() }
    private let receipts: [String]
    private let receiver: WebhookReceiver

    init() async throws {
        let chain = try TestChains.rsa.get()
        receipts = try (0..<Self.largeCustomers + 2).map { customer in
            let purchases = (0..<Self.purchasesOfLarge).map { number in
                TestProofs.purchase(transactionIdentifier: String(3_000_000_000_000_000 + customer * 10_000 + number))
            }
            return Data(try TestProofs.signed(TestProofs.receipt(purchases), chain: chain)).base64EncodedString()
        }
        receiver = try await WebhookReceiver()
    }

    private static func known(_ number: Int) -> String { "known-\(number)" }

    /// Purchases of the customer whose ids grow in number.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        for (number, receipt) in receipts.enumerated() {
            let customer = number < large.count ? large[number] : Self.giant
            _ = try await client.answer(to: fixture.door.receipt(receipt, of: customer))
        }
        for number in large.indices {
            _ = try await client.answer(
                to: fixture.door.receipt(try AttackFixture.transaction(2000 + number), of: Self.known(number)))
        }
        let hooks = try await fixture.makeKey("hooks", scopes: ["webhooks"])
        _ = try await client.answer(
            to: .request(
                "POST", "/v1/webhooks", fields: ["Authorization": "Bearer \(hooks)"],
                json: #"{"url":"\#(receiver.url)","format":"revenuecat"}"#), expecting: 201)
        return [try .purchase(fixture) { _ in Self.victim }]
    }

    func start(by attacker: Attacker) async throws {
        let (door, large) = (attacker.door, large)
        attacker.hold(1, openedEvery: .zero, replacedAfter: .zero) { _ in
            RepeatingHandler(pause: .milliseconds(500)) { turn in
                door.logIn(large[turn % large.count], as: Self.known(turn % large.count))
            }
        }
        attacker.hold(16, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { _ in
            RepeatingHandler { _ in door.logIn(Self.giant, as: DoorRequests.anonymous()) }
        }
        let head = DoorRequests.anonymous()
        let attribute = DoorRequests.attributes(1, nameSize: 1, valueSize: 1)
        attacker.hold(16, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { _ in
            var next = head
            return RepeatingHandler { turn in
                switch turn % 3 {
                case 0:
                    next = DoorRequests.anonymous()
                    return door.attributes(attribute, of: next)
                case 1: return door.logIn(head, as: next)
                default: return door.logIn(DoorRequests.anonymous(), as: Self.victim)
                }
            }
        }
    }

    /// The ids of the customers, and the sizes of the messages about them.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        let key = try await fixture.makeKey("export", scopes: ["export"])
        func aliases(of customer: String) async throws -> Int {
            let answer = try await client.answer(
                to: .request(
                    "GET", "/v1/users/\(customer)/export?issuer=customer", fields: ["Authorization": "Bearer \(key)"]))
            return try JSONDecoder().decode(Archive.self, from: Data(answer.body.utf8)).aliases?.count ?? 0
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let received = receiver.received
        let messages = try received.map { try decoder.decode(Message.self, from: $0.jsonData).event }
        return [
            Finding("aliases of the victim", try await aliases(of: Self.victim), in: 0...UserRecords.maximumAliases),
            Finding("aliases of a merged customer", try await aliases(of: Self.known(0)), in: 1...Int.max),
            Finding("messages", messages.count, in: 1...Int.max),
            Finding("ids in a message", messages.map(\.identifiers).max() ?? 0, in: 0...10),
            Finding("bytes of a message", received.map(\.body.utf8.count).max() ?? 0, in: 0...4096),
        ]
    }
}

/// The further ids in a user's export.
private struct Archive: Decodable {
    struct Name: Decodable {}

    let aliases: [Name]?
}

/// A message in RevenueCat's format.
private struct Message: Decodable {
    struct Event: Decodable {
        let aliases: [String]?
        let transferredFrom: [String]?
        let transferredTo: [String]?

        var identifiers: Int { [aliases, transferredFrom, transferredTo].map { $0?.count ?? 0 }.max() ?? 0 }
    }

    let event: Event
}
