import Foundation
import NIOCore
import NIOPosix
import Proofs
import Synchronization
import TestSupport

/// Attack 16: purchase tokens of Google Play from one network, more than Google's quota: invented ones, and one that Google knows.
struct TokenFlood: Attack {
    let name = "16, purchase tokens from one network"
    let serviceOptions: [String]

    private let play: AnsweringPlay
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        play = try await AnsweringPlay()
        let account = folder.file("account.json")
        let key = JSONValue.object([
            "type": "service_account", "client_email": "till@example.iam.gserviceaccount.com",
            "private_key": .string(try PrivateKey.generateRSA().pem()), "token_uri": .string("\(play.url)/token"),
        ])
        try Data(key.compactBytes).write(to: account)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: account.path)
        serviceOptions =
            OneNetwork.serviceOptions + [
                "--doors", "iapkit", "--google-service-account", account.path, "--google-play-url", play.url,
            ]
    }

    /// Customers at other networks, each with a new purchase.
    func probes(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Probe] {
        let requests = (0..<60).map { number in
            fixture.door.from(OneNetwork.other(number)).verify("\(AnsweringPlay.knownPrefix)-\(number)")
        }
        return [Probe("token", every: .milliseconds(250), expecting: 200, requests)]
    }

    func start(by attacker: Attacker) async throws {
        let door = attacker.door
        attacker.hold(32, openedEvery: .milliseconds(5), replacedAfter: .milliseconds(100)) { number in
            RepeatingHandler(pause: .milliseconds(5)) { turn in
                let token = turn % 4 == 3 ? "\(AnsweringPlay.knownPrefix)-shared" : "invented-\(number)-\(turn)"
                return door.from(OneNetwork.address(number + 32 * turn)).verify(token)
            }
        }
    }

    /// The questions about invented tokens: those of a minute for one site, in as many requests as there are kinds of purchases.
    func findings(from client: LoopbackClient, in fixture: AttackFixture) async throws -> [Finding] {
        [Finding("requests to Google Play about invented tokens", play.inventedCount, in: 60...2 * 16 * 60 * 5 / 4)]
    }
}

/// A Play Developer API on a free port that knows each purchase token with a prefix, and counts the questions about others.
private final class AnsweringPlay: Sendable {
    static let knownPrefix = "known"

    private final class Count: Sendable {
        let invented = Atomic(0)
    }

    private let count = Count()
    private let channel: any Channel

    /// The number of requests about tokens that it does not know.
    var inventedCount: Int { count.invented.load(ordering: .relaxed) }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    init() async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [count] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(count))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit { channel.close(promise: nil) }

    /// Answers each request, whose head is in one piece.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let count: Count

        init(_ count: Count) {
            self.count = count
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let words = String(buffer: unwrapInboundIn(data)).split(separator: " ", maxSplits: 2)
            // The body of a request can be a piece of its own.
            guard words.count == 3, ["GET", "POST"].contains(words[0]) else { return }
            let (status, json) = answer(to: words[1])
            let head = [
                "HTTP/1.1 \(status)", "Content-Type: application/json", "Content-Length: \(json.utf8.count)", "", "",
            ]
            .joined(separator: "\r\n")
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + json)), promise: nil)
        }

        private func answer(to path: Substring) -> (status: String, json: String) {
            if path == "/token" {
                return ("200 OK", #"{"access_token":"t","expires_in":3600,"token_type":"Bearer"}"#)
            }
            let token = path.split(separator: "/").last ?? ""
            guard token.hasPrefix(AnsweringPlay.knownPrefix), path.contains("productsv2") else {
                if path.contains("/tokens/"), !token.hasPrefix(AnsweringPlay.knownPrefix) {
                    count.invented.add(1, ordering: .relaxed)
                }
                return ("404 Not Found", #"{"error":{"errors":[{"reason":"purchaseTokenNotFound"}]}}"#)
            }
            return (
                "200 OK",
                """
                {"productLineItem":[{"productId":"com.memolease.sesac1.sprout1","productOfferDetails":{"quantity":1}}],
                "purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.\(token)",
                "purchaseCompletionTime":"2026-01-01T00:00:00Z","acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
                """
            )
        }
    }
}
