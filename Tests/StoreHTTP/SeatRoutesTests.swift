import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// The endpoints of groups and seats, with which the app's server claims the seats of a group's members.
@Suite struct SeatRoutesTests {
    private let team: TestTeam
    private let token: String
    /// The transaction of three seats that alice has bought.
    private let sold: String

    init() throws {
        team = try TestTeam()
        sold = try team.buy(3)
        token = try Self.token(of: team)
    }

    private static func token(of team: TestTeam) throws -> String {
        var privateKey = ""
        let key = try team.store.makeTeamKey { privateKey = $1 }
        return try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: key.keyIdentifier, issuerIdentifier: key.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier
        ).token(at: team.clock.now())
    }

    private static func request(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    /// The answer to a request below `/groups/v1/`: its status, and its JSON with sorted keys.
    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [String: String]? = nil,
        to team: TestTeam? = nil,
        with token: String? = nil
    ) async throws -> String {
        let application = Application(
            router: (team ?? self.team).store.routes(sandboxKey: APIKey("key"), clock: self.team.clock).router())
        let headers: HTTPFields = [.authorization: "Bearer \(token ?? self.token)"]
        let bytes = try body.map { ByteBuffer(data: try JSONEncoder().encode($0)) }
        return try await application.test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/groups/v1/\(path)", method: method, headers: headers, body: bytes)
            let data = Data(answer.body.readableBytesView)
            guard let object = try? JSONSerialization.jsonObject(with: data) else {
                return "\(answer.status.code)"
            }
            let sorted = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
            return "\(answer.status.code) \(String(decoding: sorted, as: UTF8.self))"
        }
    }

    private func claim(_ number: Int, for member: String? = nil) async throws -> String {
        var body = ["requestIdentifier": Self.request(number)]
        body["appTransactionId"] = member
        let answer = try await send(.post, "transactions/\(sold)/seats", body)
        let match = try #require(answer.wholeMatch(of: #/200 \{"seatClaimId":"([0-9a-f-]{36})"\}/#), "\(answer)")
        return String(match.1)
    }

    /// The app transaction of an account.
    private func member(_ account: String) throws -> String {
        let compact = try team.store.read { try $0.signedAppTransaction(of: account) }
        let verifier = ProofVerifier(
            anchors: try TrustAnchors(team.store.rootCertificates.compactMap { try TrustAnchor($0) }),
            clock: team.store.latestClock)
        let proof = try verifier.verify(Array(compact.utf8), expecting: ProofExpectations())
        guard case .appTransaction(let app) = proof.content, let identifier = app.appTransactionId else {
            throw TestGardenError.notAppTransaction
        }
        return identifier
    }

    private static func refusal(_ message: String, _ code: Int = 4_000_000) -> String {
        #"\#(code / 10_000) {"errorCode":\#(code),"errorMessage":"\#(message)"}"#
    }

    @Test func `seats are claimed until none is left, once for each request, and unclaimed`() async throws {
        let seats = "transactions/\(sold)/seats"
        #expect(
            try await send(.get, seats)
                == #"200 {"assignedSeatClaimIds":[],"availableSeatCount":3,"totalSeatCount":3}"#)
        let claims = [try await claim(1), try await claim(2), try await claim(3)]
        #expect(Set(claims).count == 3)
        #expect(try await claim(2) == claims[1])
        let listed = claims.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(
            try await send(.get, seats)
                == #"200 {"assignedSeatClaimIds":[\#(listed)],"availableSeatCount":0,"totalSeatCount":3}"#)
        #expect(
            try await send(.post, seats, ["requestIdentifier": Self.request(4)])
                == Self.refusal("No available seats."))
        #expect(try await send(.delete, "\(seats)/\(claims[0])") == "200")
        #expect(try await send(.delete, "\(seats)/\(claims[0])") == Self.refusal("Seat claim id not found."))
        // Every claim has an identifier of its own.
        #expect(!claims.contains(try await claim(4)))
    }

    @Test func `a customer is associated with a seat, and belongs to the group`() async throws {
        let (alice, bob, carol) = (try member("alice"), try member("bob"), try member("carol"))
        let claims = [try await claim(1, for: bob), try await claim(2)]
        let group = #"{"groupId":"\#(sold)","groupType":"CONSUMER"}"#
        #expect(try await send(.get, "currentGroups/\(alice)") == #"200 {"groups":[\#(group)]}"#)
        #expect(try await send(.get, "currentGroups/\(bob)") == #"200 {"groups":[\#(group)]}"#)
        #expect(try await send(.get, "currentGroups/\(carol)") == #"200 {"groups":[]}"#)
        let path = "transactions/\(sold)/seats/\(claims[1])/associate"
        #expect(try await send(.post, path, ["appTransactionId": carol]) == "200")
        #expect(try await send(.get, "currentGroups/\(carol)") == #"200 {"groups":[\#(group)]}"#)
        let members = [alice, bob, carol].map { #"{"appTransactionId":"\#($0)"}"# }
        #expect(
            try await send(.get, "group/\(sold)?limit=2")
                == #"200 {"hasMore":true,"members":[\#(members[0]),\#(members[1])],"paginationToken":"2"}"#)
        #expect(
            try await send(.get, "group/\(sold)?limit=2&paginationToken=2")
                == #"200 {"hasMore":false,"members":[\#(members[2])]}"#)
        try team.store.expire(sold)
        #expect(try await send(.get, "currentGroups/\(bob)") == #"200 {"groups":[]}"#)
    }

    @Test func `what the endpoints refuse`() async throws {
        let (seats, unknown) = ("transactions/\(sold)/seats", "712345678901231234")
        let body = ["requestIdentifier": Self.request(1)]
        let claimed = try await claim(9)
        for (method, path, body, expected) in [
            (.get, "transactions/abc/seats", nil, Self.refusal("Invalid transaction id.", 4_000_006)),
            (.get, "transactions/1234/seats", nil, Self.refusal("Original transaction id not found.", 4_040_005)),
            (.post, seats, [:], Self.refusal("Invalid request identifier.", 4_000_011)),
            (.post, seats, ["requestIdentifier": "x"], Self.refusal("Invalid request identifier.", 4_000_011)),
            (.post, seats, nil, Self.refusal("Bad request.")),
            (
                .post, seats, body.merging(["appTransactionId": unknown]) { $1 },
                Self.refusal("App transaction id not found.")
            ),
            (.post, "\(seats)/\(claimed)/associate", [:], Self.refusal("Bad request.")),
            (
                .post, "\(seats)/\(claimed)/associate", ["appTransactionId": unknown],
                Self.refusal("App transaction id not found.")
            ),
            (
                .post, "\(seats)/\(Self.request(1))/associate", ["appTransactionId": try member("bob")],
                Self.refusal("Seat claim id not found.")
            ),
            (.get, "currentGroups/\(unknown)", nil, Self.refusal("App transaction id not found.")),
            (.get, "group/1234", nil, Self.refusal("Group id not found.")),
            (.get, "group/\(sold)?limit=0", nil, Self.refusal("Bad request.")),
            (
                .get, "group/\(sold)?paginationToken=x", nil,
                Self.refusal("Invalid request. The pagination token is invalid.", 4_000_014)
            ),
        ] as [(HTTPRequest.Method, String, [String: String]?, String)] {
            #expect(try await send(method, path, body) == expected, "\(method) \(path)")
        }
        #expect(try await send(.get, seats, with: "none").hasPrefix("401"))
    }

    @Test func `seats of Apple's invitations are not claimed, and production has no endpoints`() async throws {
        let apple = try TestTeam(#", "multiSeat": {}"#)
        let sold = try apple.buy(3)
        #expect(
            try await send(.get, "transactions/\(sold)/seats", to: apple, with: try Self.token(of: apple))
                == Self.refusal("Transaction not dev managed group."))
        let production = try TestTeam(environment: .production)
        let bought = try production.buy(3)
        #expect(
            try await send(
                .get, "transactions/\(bought)/seats", to: production, with: try Self.token(of: production)
            ).hasPrefix("404"))
    }

    @Test func `members by Apple's invitation belong to the group of their purchaser`() async throws {
        let apple = try TestTeam(#", "multiSeat": {}"#)
        let sold = try apple.buy(3)
        let seat = try apple.store.acceptInvitation(to: sold, by: "bob")
        let token = try Self.token(of: apple)
        let (alice, bob) = (try member("alice"), try member("bob"))
        let group = #"{"groupId":"\#(sold)","groupType":"CONSUMER"}"#
        for customer in [alice, bob] {
            #expect(
                try await send(.get, "currentGroups/\(customer)", to: apple, with: token)
                    == #"200 {"groups":[\#(group)]}"#)
        }
        let members = [alice, bob].map { #"{"appTransactionId":"\#($0)"}"# }.joined(separator: ",")
        #expect(
            try await send(.get, "group/\(sold)", to: apple, with: token)
                == #"200 {"hasMore":false,"members":[\#(members)]}"#)
        // A seat is no group of its own.
        #expect(
            try await send(.get, "group/\(seat)", to: apple, with: token) == Self.refusal("Group id not found."))
        try apple.store.endSeat(seat)
        #expect(try await send(.get, "currentGroups/\(bob)", to: apple, with: token) == #"200 {"groups":[]}"#)
    }

    @Test func `a refund of some seats unclaims the latest of the claims, and tells it`() async throws {
        let claims = [try await claim(1), try await claim(2), try await claim(3)]
        var values = TransactionAction.Parameters()
        values.refundedSeats = 2
        try team.store.perform(.refund, values, on: sold)
        #expect(
            try await send(.get, "transactions/\(sold)/seats")
                == #"200 {"assignedSeatClaimIds":["\#(claims[0])"],"availableSeatCount":0,"totalSeatCount":1}"#)
        let notified = try team.store.notifications()
        #expect(
            notified.map { [$0.type.rawValue, $0.subtype?.rawValue ?? "-"] } == [
                ["SUBSCRIBED", "INITIAL_BUY"], ["REFUND", "SEATS"], ["UNCLAIM_SEATS", "-"],
            ])
        #expect(try Self.unclaimed(notified.last) == Array(claims.dropFirst()))
        let sale = try team.store.sale(sold)
        #expect(sale.revocation == nil && sale.quantity == 3 && sale.seats?.revokedQuantity == 2)
        // The last seat is refunded with the transaction.
        values.refundedSeats = 1
        #expect(throws: StoreError.self) { try team.store.perform(.refund, values, on: sold) }
        try team.store.refund(sold)
        #expect(try Self.unclaimed(try team.store.notifications().last) == [claims[0]])
        #expect(try team.store.subscriptions(of: "alice").map(\.status) == [.revoked])
    }

    /// The claims in a notification.
    private static func unclaimed(_ notification: StoreNotification?) throws -> [String] {
        struct Payload: Decodable {
            struct Info: Decodable {
                let unclaimSeatIds: [String]
            }

            let unclaimInfo: Info
        }
        let part = try #require(notification?.signedPayload.split(separator: ".").dropFirst().first)
        let standard = String(part).replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return try JSONDecoder().decode(Payload.self, from: try #require(Data(base64Encoded: padded)))
            .unclaimInfo.unclaimSeatIds
    }
}
