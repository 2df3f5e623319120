import Dispatch
import Features
import HTTPSupport
import NIOCore

/// The connections to one receiver, at the address that was checked. They follow no redirect. Only the beginning of an answer's body is
/// kept, for people.
package struct WebhookConnection: Sendable {
    /// The maximum number of concurrent messages.
    static let maximumAtOnce = 16
    private static let limits = OutgoingLimits(
        connection: .seconds(5), answer: .seconds(15), body: .beginning(upTo: 64 << 10, within: .seconds(1)))

    /// A connection serves the messages that follow each other. Many servers close one that is idle for 5 s, and a message that is on its
    /// way then gets no answer.
    private static let client = OutgoingClient(idleTime: .seconds(2))

    private let url: WebhookURL
    private let address: WebhookAddress

    package init(to url: WebhookURL, at address: WebhookAddress) {
        self.url = url
        self.address = address
    }

    /// Sends one message to a receiver.
    ///
    /// - Parameter webhook: Returns the message, once the receiver's name is resolved.
    static func send(
        to url: WebhookURL, allowsPrivateAddresses: Bool, _ webhook: () -> SignedWebhook
    ) async throws -> WebhookDelivery.Outcome {
        do {
            let address = try await WebhookAddress.find(url, allowsPrivate: allowsPrivateAddresses)
            return .answered(status: try await WebhookConnection(to: url, at: address).send(webhook()).status)
        } catch let refusal as WebhookAddress.Refusal {
            return .unanswered(code: refusal.rawValue)
        } catch let failure as Failure {
            return .unanswered(code: failure.rawValue)
        }
    }

    /// A reason for a missing answer.
    package enum Failure: String, Error {
        case timedOut
        case unreachable
        case tlsFailed
        case connectionEnded
        case other
    }

    package struct Answer: Sendable {
        package let status: Int
        /// The beginning of the body; nil if there is none.
        package let response: WebhookResponse?
    }

    package func send(_ webhook: SignedWebhook) async throws(Failure) -> Answer {
        var request = OutgoingRequest(.post, url.text, type: webhook.mediaType, body: webhook.body)
        request.add("User-Agent", "Till")
        for header in webhook.headers { request.add(header.name, header.value) }
        request.address = address.text
        do {
            // No message waits for a connection, which would use up its timeout: the client opens as many as it needs.
            let answer = try await Self.client.send(request, Self.limits)
            return Answer(status: answer.status, response: WebhookResponse(answer.body))
        } catch {
            throw Failure(error)
        }
    }
}

extension WebhookConnection.Failure {
    fileprivate init(_ failure: OutgoingFailure) {
        self =
            switch failure {
            case .timedOut: .timedOut
            case .connectionEnded: .connectionEnded
            case .tlsFailed: .tlsFailed
            case .unreachable: .unreachable
            case .cancelled, .other, .redirectsEndless, .requestInvalid, .tooLarge: .other
            }
    }
}

/// The resolved address of a webhook's receiver.
///
/// The name is resolved once, checked, and then connected to. A name that resolves differently a moment later has no effect
/// (DNS rebinding).
package struct WebhookAddress: Sendable {
    /// A reason to send nothing.
    enum Refusal: String, Error {
        case addressPrivate
        case hostUnknown
    }

    /// The IP address as text.
    let text: String

    /// Separate threads, because a name server may answer late.
    private static let lookups = DispatchQueue(label: "till.names", attributes: .concurrent)
    private static let lookupTimeout = Duration.seconds(10)

    /// Resolves the name of a receiver.
    ///
    /// - Throws: `Refusal`.
    package static func find(_ url: WebhookURL, allowsPrivate: Bool) async throws -> WebhookAddress {
        let (answers, answer) = AsyncStream<Result<WebhookAddress, Refusal>>.makeStream()
        lookups.async {
            answer.yield(Result { () throws(Refusal) in try WebhookAddress(of: url, allowsPrivate: allowsPrivate) })
            answer.finish()
        }
        do {
            return try await Deadline.run(within: lookupTimeout) {
                for await found in answers { return try found.get() }
                throw Refusal.hostUnknown
            }
        } catch is Deadline.Passed {
            throw Refusal.hostUnknown
        }
    }

    /// Resolves the name. This blocks until the name server answers.
    private init(of url: WebhookURL, allowsPrivate: Bool) throws(Refusal) {
        // The first address, in the order of the system.
        guard let address = try? SocketAddress.makeAddressResolvingHost(url.host, port: url.port),
            let text = address.ipAddress
        else { throw .hostUnknown }
        guard allowsPrivate || Self.isPublic(address) else { throw .addressPrivate }
        self.text = text
    }

    private static func isPublic(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4(let address):
            AddressRange.isPublic(withUnsafeBytes(of: address.address.sin_addr) { Array($0) })
        case .v6(let address):
            AddressRange.isPublic(withUnsafeBytes(of: address.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: false
        }
    }
}
