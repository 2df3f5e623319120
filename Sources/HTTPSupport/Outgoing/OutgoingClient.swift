import CCurl
import Foundation
import Synchronization

package struct OutgoingRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"

        /// True if a request without a body has `Content-Length: 0` (RFC 9110 section 8.6).
        fileprivate var expectsBody: Bool { [.post, .put, .patch].contains(self) }
        /// True if a request that was sent twice has the effect of one (RFC 9110 section 9.2.2).
        fileprivate var isIdempotent: Bool { ![.post, .patch].contains(self) }
    }

    package let method: Method
    package let url: String
    package private(set) var headers: [(name: String, value: String)] = []
    package let body: [UInt8]?
    /// The IP address that is connected to in place of the URL's host, which TLS and the header `Host` still name.
    package var address: String?
    package var roots: AdditionalRoots?

    /// - Parameter url: With the scheme `http` or `https`. A user, a password and a fragment are not sent.
    package init(_ method: Method, _ url: String, type: String? = nil, body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.body = body
        if let type { add("Content-Type", type) }
    }

    package mutating func add(_ name: String, _ value: String) {
        headers.append((name, value))
    }

    package mutating func remove(_ name: String) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
    }

    /// The host for messages, because the rest of the URL may contain a secret.
    package var host: String { URL(string: url)?.host() ?? "?" }

    /// The request that follows a redirect (RFC 9110 section 15.4); nil for an answer that is none to HTTP.
    ///
    /// A request at an address follows none: the address of the next host is not checked.
    fileprivate func redirected(by answer: OutgoingAnswer) -> OutgoingRequest? {
        guard address == nil, [301, 302, 303, 307, 308].contains(answer.status),
            let location = answer.header("Location"),
            let here = URL(string: url), let target = URL(string: location, relativeTo: here)?.absoluteURL,
            ["http", "https"].contains(target.scheme?.lowercased())
        else { return nil }
        // As browsers do. A 307 and a 308 keep the method.
        let isGet = answer.status == 303 || [301, 302].contains(answer.status) && method == .post
        var next = OutgoingRequest(isGet ? .get : method, target.absoluteString, body: isGet ? nil : body)
        (next.headers, next.roots) = (headers, roots)
        if isGet { next.remove("Content-Type") }
        let isSameOrigin =
            here.scheme?.lowercased() == target.scheme?.lowercased() && here.port == target.port
            && here.host()?.lowercased() == target.host()?.lowercased()
        if !isSameOrigin { next.remove("Authorization") }
        return next
    }
}

package struct OutgoingAnswer: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The values of a header, one for each line.
    package func headers(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    package func header(_ name: String) -> String? { headers(name).first }
}

/// The reason for a missing answer. It has nothing of the request, which may contain secrets.
package enum OutgoingFailure: Error {
    case cancelled
    case timedOut
    /// Nothing listens, the host is unknown, or the connection broke.
    case unreachable
    /// The certificate is not trusted, or the server does not speak TLS.
    case tlsFailed
    /// The server has closed the connection before the end of its answer.
    case connectionEnded
    /// The body has more bytes than the limit, or the head more than any.
    case tooLarge
    /// More redirects than the limit, or a circle.
    case redirectsEndless
    /// The URL or a header cannot be sent, or the address is none.
    case requestInvalid
    /// The server speaks no HTTP, for example.
    case other

    fileprivate init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SEND_ERROR, CURLE_RECV_ERROR: .unreachable
            case CURLE_URL_MALFORMAT: .requestInvalid
            // The connection was closed while it was idle, and the request is not sent twice (CURLE_SEND_FAIL_REWIND).
            case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
                .connectionEnded
            case _ where code.isOfTLS: .tlsFailed
            default: .other
            }
    }
}

package struct OutgoingLimits: Sendable {
    package enum Body: Sendable {
        /// The whole body, within the time of the answer.
        case whole(upTo: Int)
        /// The whole body, however long it takes. A pause in it ends with the time of the answer.
        case unhurried(upTo: Int)
        /// The beginning of the body, within a time after the head. Its end, its size and its errors do not matter, because the status is
        /// the answer. A body that ends in this time lets the connection be used again.
        case beginning(upTo: Int, within: Duration)

        /// The body does not matter.
        package static let ignored = Body.beginning(upTo: 64 << 10, within: .zero)

        fileprivate var isOptional: Bool { if case .beginning = self { true } else { false } }
        /// In bytes.
        fileprivate var maximumSize: Int {
            switch self {
            case .whole(let size), .unhurried(let size), .beginning(let size, _): size
            }
        }
    }

    /// The time for a connection, with its TLS.
    fileprivate let connection: Duration
    /// The time for the answer: all of it, or its head and each pause after it, as the body says. Redirects are within it.
    fileprivate let answer: Duration
    fileprivate let body: Body
    /// The largest number of redirects that are followed.
    fileprivate let redirects: Int

    /// - Parameter connection: At most nine tenths of the time for the answer count. No multiple of 5 s, at which the resolver
    ///   ends a lookup without an answer (`till_curl_end_lookups_at_once`).
    package init(connection: Duration = .seconds(9), answer: Duration, body: Body, redirects: Int = 0) {
        self.connection = min(connection, answer / 10 * 9)
        self.answer = answer
        self.body = body
        self.redirects = redirects
    }
}

/// Root certificates that a client trusts in addition to those of the system.
package struct AdditionalRoots: Sendable {
    /// The file of the system's roots, on Debian and Fedora and their like; nil for libcurl's own.
    ///
    /// libcurl reads this file once for many connections, and a folder for each (50 ms).
    fileprivate static let systemFile = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    ].first(where: FileManager.default.isReadableFile)

    /// All trusted certificates, in PEM.
    fileprivate let pem: [UInt8]

    /// Reads the certificates of a PEM text.
    ///
    /// - Returns: Nil if the text has no certificate, or an invalid one.
    package init?(pem: [UInt8]) {
        guard PEMText.certificates(in: pem) else { return nil }
        let system = Self.systemFile.flatMap { FileManager.default.contents(atPath: $0) }
        self.pem = Array(system ?? Data()) + [UInt8(ascii: "\n")] + pem
    }
}

/// A client of other servers, over libcurl. One thread serves all transfers of a client, and ends after a while without one.
///
/// It follows a redirect only within a request's limits, and keeps no cookies. HTTP/2 is used if a server speaks it over TLS.
package final class OutgoingClient: Sendable {
    package static let shared = OutgoingClient()

    /// A request on its way to the thread.
    fileprivate struct Order: Sendable {
        let number: Int
        let request: OutgoingRequest
        let limits: OutgoingLimits
        let end: ContinuousClock.Instant
        let continuation: CheckedContinuation<Result<OutgoingAnswer, OutgoingFailure>, Never>
    }

    private enum ThreadState: Sendable {
        case none
        case starting
        /// The thread waits on the transfers at this address.
        case running(Int)
    }

    private struct State: Sendable {
        var thread = ThreadState.none
        var orders: [Order] = []
        var cancelled: [Int] = []

        func wake() {
            if case .running(let address) = thread { CurlTransfers.wake(address) }
        }
    }

    private let connectionsPerHost: Int
    private let idleTime: Duration
    private let state = Mutex(State())
    private let numbers = Atomic(0)

    /// - Parameters:
    ///   - connectionsPerHost: The largest number of connections to a host. Further requests wait, or share one with HTTP/2; 0 for
    ///     no limit.
    ///   - idleTime: The time after which an idle connection is not used again, and a thread without a request ends. Servers such as
    ///     Till's own close a connection after 60 s, and a request must not be sent at that moment.
    package init(connectionsPerHost: Int = 0, idleTime: Duration = .seconds(50)) {
        self.connectionsPerHost = connectionsPerHost
        self.idleTime = idleTime
    }

    package func send(
        _ request: OutgoingRequest, _ limits: OutgoingLimits
    ) async throws(OutgoingFailure) -> OutgoingAnswer {
        let end = ContinuousClock.now + limits.answer
        var visited = [request.url]
        var request = request
        while true {
            let answer = try await exchange(request, limits, until: end).get()
            guard limits.redirects > 0, let next = request.redirected(by: answer) else { return answer }
            guard visited.count <= limits.redirects, !visited.contains(next.url) else { throw .redirectsEndless }
            visited.append(next.url)
            request = next
        }
    }

    private func exchange(
        _ request: OutgoingRequest, _ limits: OutgoingLimits, until end: ContinuousClock.Instant
    ) async -> Result<OutgoingAnswer, OutgoingFailure> {
        let number = numbers.add(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Order(number: number, request: request, limits: limits, end: end, continuation: continuation))
                // The handler may have run before the order was there.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func add(_ order: Order) {
        let starts = state.withLock { state in
            state.orders.append(order)
            guard case .none = state.thread else {
                state.wake()
                return false
            }
            state.thread = .starting
            return true
        }
        if starts { startThread() }
    }

    private func startThread() {
        let client = Unmanaged.passRetained(self)
        let starts = till_curl_start_thread(
            { client in
                guard let client else { return nil }
                Unmanaged<OutgoingClient>.fromOpaque(client).takeRetainedValue().serve()
                return nil
            }, client.toOpaque())
        guard !starts else { return }
        client.release()
        refuseOrders()
    }

    /// Ends all orders in place of the thread, for which the system has no means. The next order begins anew.
    private func refuseOrders() {
        repeat {
            for order in takeOrders().orders { order.continuation.resume(returning: .failure(.other)) }
        } while !endsThread()
    }

    private func cancel(_ number: Int) {
        state.withLock { state in
            state.cancelled.append(number)
            state.wake()
        }
    }

    private func takeOrders() -> (orders: [Order], cancelled: [Int]) {
        state.withLock { state in
            defer { (state.orders, state.cancelled) = ([], []) }
            return (state.orders, state.cancelled)
        }
    }

    /// Ends the thread unless an order has come.
    private func endsThread() -> Bool {
        state.withLock { state in
            guard state.orders.isEmpty else { return false }
            state.thread = .none
            return true
        }
    }

    /// The thread.
    private func serve() {
        Thread.current.name = "till.outgoing"
        guard let transfers = CurlTransfers(connectionsPerHost: connectionsPerHost) else { return refuseOrders() }
        let address = transfers.address
        state.withLock { $0.thread = .running(address) }
        let exchanges = Exchanges(transfers, idleTime: idleTime)
        var idleSince = ContinuousClock.now
        while true {
            let (orders, cancelled) = takeOrders()
            for order in orders { exchanges.begin(order) }
            for number in cancelled { exchanges.cancel(number) }
            let isIdle = exchanges.isEmpty
            exchanges.proceed()
            let now = ContinuousClock.now
            if !isIdle { idleSince = now }
            let idleEnd = idleSince + idleTime
            if exchanges.isEmpty, now >= idleEnd, endsThread() { return }
            exchanges.wait(until: exchanges.isEmpty ? idleEnd : .now + idleTime)
        }
    }
}

/// The exchanges of a client's thread. Whoever waits for an answer gets it when nothing of its transfer is left, so that no connection is
/// closed while the process ends.
private final class Exchanges {
    private let transfers: CurlTransfers
    private let idleTime: Duration
    private var running: [UnsafeMutableRawPointer: Exchange] = [:]

    init(_ transfers: CurlTransfers, idleTime: Duration) {
        self.transfers = transfers
        self.idleTime = idleTime
    }

    var isEmpty: Bool { running.isEmpty }

    func begin(_ order: OutgoingClient.Order) {
        do throws(OutgoingFailure) {
            let exchange = try Exchange(order, idleTime: idleTime)
            guard transfers.add(exchange.handle) else { throw .other }
            running[exchange.handle.pointer] = exchange
        } catch {
            order.continuation.resume(returning: .failure(error))
        }
    }

    func cancel(_ number: Int) {
        // It may have ended.
        guard let handle = running.first(where: { $0.value.order.number == number })?.key else { return }
        end(handle) { $0.result(.cancelled) }
    }

    /// Does what can be done without waiting, and ends the exchanges whose time is over.
    func proceed() {
        guard let ended = transfers.perform() else { return fail() }
        for (handle, code) in ended { end(handle) { $0.result(code) } }
        let now = ContinuousClock.now
        let late = running.filter { $0.value.deadline <= now }
        for handle in late.keys { end(handle) { $0.result(.timedOut) } }
    }

    /// - Parameter moment: The end of the wait, unless an exchange has a deadline before it.
    func wait(until moment: ContinuousClock.Instant) {
        let next = running.values.lazy.map(\.deadline).min() ?? moment
        guard !transfers.wait(atMost: min(next, moment) - .now) else { return }
        fail()
        // The thread must not run in circles meanwhile.
        Thread.sleep(forTimeInterval: 0.1)
    }

    private func fail() {
        for handle in Array(running.keys) { end(handle) { $0.result(.other) } }
    }

    private func end(
        _ handle: UnsafeMutableRawPointer, _ result: (Exchange) -> Result<OutgoingAnswer, OutgoingFailure>
    ) {
        guard let (continuation, result) = remove(handle, result) else { return }
        continuation.resume(returning: result)
    }

    /// Frees an exchange.
    private func remove(
        _ handle: UnsafeMutableRawPointer, _ result: (Exchange) -> Result<OutgoingAnswer, OutgoingFailure>
    ) -> (
        CheckedContinuation<Result<OutgoingAnswer, OutgoingFailure>, Never>, Result<OutgoingAnswer, OutgoingFailure>
    )? {
        guard let exchange = running.removeValue(forKey: handle) else { return nil }
        transfers.remove(exchange.handle)
        return (exchange.order.continuation, result(exchange))
    }
}

/// A request with what has come of its answer.
private final class Exchange: CurlReceiver {
    /// The largest head in bytes, with provisional answers and trailers.
    private static let maximumHead = 128 << 10
    /// The largest number of headers.
    private static let maximumHeaders = 256

    let order: OutgoingClient.Order
    let handle: CurlHandle
    private(set) var deadline: ContinuousClock.Instant

    private var headSize = 0
    private let isEncrypted: Bool
    private var isHTTP1 = false
    /// True at the first line of a head: of the answer, or of a provisional one before it.
    private var expectsStatusLine = true
    private var status: Int?
    private var headers: [(name: String, value: String)] = []
    private var hasHead = false
    private var body: [UInt8] = []
    private var isTooLarge = false

    init(_ order: OutgoingClient.Order, idleTime: Duration) throws(OutgoingFailure) {
        let request = order.request
        guard let url = Exchange.sent(request.url),
            request.headers.allSatisfy({ Exchange.isValid($0.name, $0.value) }),
            request.address.map(Exchange.isAddress) != false
        else { throw .requestInvalid }
        guard let handle = try? CurlHandle(connectingWithin: order.limits.connection) else { throw .other }
        self.order = order
        self.handle = handle
        deadline = order.end
        isEncrypted = url.lowercased().hasPrefix("https:")
        do throws(CurlHandle.Refusal) {
            try handle.set(CURLOPT_URL, url)
            try setHTTP(idleTime: idleTime)
            try setTrust(request.roots)
            try setRequest(request)
            try handle.receive(by: self)
        } catch {
            throw .other
        }
    }

    /// A URL without what is not sent; nil for one of another scheme.
    private static func sent(_ url: String) -> String? {
        guard var components = URLComponents(string: url), let scheme = components.scheme?.lowercased(),
            ["http", "https"].contains(scheme), components.host?.isEmpty == false
        else { return nil }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        return components.string
    }

    /// A control character could begin another header (RFC 9110 section 5.5).
    private static func isValid(_ name: String, _ value: String) -> Bool {
        let isToken = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        return isToken && !name.isEmpty
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    /// True for an IP address. libcurl would ask a name server for another text, and connect to the URL's host for an empty one.
    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    private func setHTTP(idleTime: Duration) throws(CurlHandle.Refusal) {
        try handle.useHTTP()
        try handle.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        // The path as it was given, with its dots.
        try handle.set(CURLOPT_PATH_AS_IS, 1)
        // A name is resolved for each connection. A later answer of the name server counts.
        try handle.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
        try handle.set(CURLOPT_MAXAGE_CONN, max(1, Int(idleTime.components.seconds)))
    }

    private func setTrust(_ roots: AdditionalRoots?) throws(CurlHandle.Refusal) {
        // An intermediate certificate is no root.
        try handle.set(CURLOPT_SSL_OPTIONS, Int(CURLSSLOPT_NO_PARTIALCHAIN))
        if let file = AdditionalRoots.systemFile {
            try handle.set(CURLOPT_CAINFO, file)
            try handle.set(CURLOPT_CAPATH, nil as String?)
        }
        if let roots { try handle.set(CURLOPT_CAINFO_BLOB, roots.pem) }
    }

    private func setRequest(_ request: OutgoingRequest) throws(CurlHandle.Refusal) {
        // Without the headers that libcurl adds.
        let lines = request.headers.map { name, value in
            // A header without a value ends with a semicolon (CURLOPT_HTTPHEADER).
            value.allSatisfy { $0 == " " || $0 == "\t" } ? "\(name);" : "\(name): \(value)"
        }
        try handle.set(CURLOPT_HTTPHEADER, ["Accept:", "Expect:"] + lines)
        if let body = request.body ?? (request.method.expectsBody ? [] : nil) {
            try handle.upload(body, statesSize: true)
            // libcurl sends a request without a body again if the server has closed the connection meanwhile.
            if body.isEmpty, !request.method.isIdempotent { try handle.set(CURLOPT_FRESH_CONNECT, 1) }
        }
        try handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        if let address = request.address {
            try handle.set(CURLOPT_CONNECT_TO, ["::\(address.contains(":") ? "[\(address)]" : address):"])
        }
    }

    func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
        headSize += line.count
        guard headSize <= Self.maximumHead, headers.count <= Self.maximumHeaders else {
            isTooLarge = true
            return false
        }
        // A trailer.
        if hasHead { return true }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
        if expectsStatusLine {
            // libcurl refuses it before (CURLE_UNSUPPORTED_PROTOCOL), and an answer without a line, which HTTP/0.9 has
            // (CURLOPT_HTTP09_ALLOWED): this is for a version of libcurl that does not.
            guard let status = Self.status(text) else { return false }
            self.status = status
            isHTTP1 = text.uppercased().hasPrefix("HTTP/1")
            headers = []
            expectsStatusLine = false
        } else if text.isEmpty {
            endHead()
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers.append((String(text[..<colon]), value))
        }
        return true
    }

    /// The status of a status line: three digits after the version (RFC 9112 section 4); nil for another text.
    private static func status(_ line: String) -> Int? {
        let parts = line.split(separator: " ")
        guard parts.count > 1, parts[0].uppercased().hasPrefix("HTTP/"), parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(parts[1])
    }

    private func endHead() {
        // Other answers with 1xx are provisional.
        guard let status, status >= 200 || status == 101 else {
            expectsStatusLine = true
            return
        }
        hasHead = true
        switch order.limits.body {
        case .whole: break
        case .unhurried: deadline = .now + order.limits.answer
        case .beginning(_, let time): deadline = .now + time
        }
    }

    func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        let room = order.limits.body.maximumSize - body.count
        guard !isTooLarge else { return false }
        if case .unhurried = order.limits.body { deadline = .now + order.limits.answer }
        isTooLarge = part.count > room
        // The size of a whole body counts, of another one the beginning.
        if order.limits.body.isOptional || !isTooLarge { body += part.prefix(room) }
        return !isTooLarge
    }

    func result(_ code: CURLcode) -> Result<OutgoingAnswer, OutgoingFailure> {
        guard code == CURLE_OK else { return result(isTooLarge ? .tooLarge : OutgoingFailure(code)) }
        // libcurl calls an answer whole whose connection has ended within its head.
        guard let answer, !mayBeCut else { return result(.connectionEnded) }
        return .success(answer)
    }

    /// True if the body ends with the connection, over TLS. Somebody in the network can end it before, which libcurl does not tell.
    private var mayBeCut: Bool {
        let framing = ["content-length", "transfer-encoding"]
        return isEncrypted && isHTTP1 && status != 204 && status != 304
            && !headers.contains { framing.contains($0.name.lowercased()) }
    }

    func result(_ failure: OutgoingFailure) -> Result<OutgoingAnswer, OutgoingFailure> {
        guard let answer, order.limits.body.isOptional else { return .failure(failure) }
        return .success(answer)
    }

    /// Nil before the end of its head.
    private var answer: OutgoingAnswer? {
        guard hasHead, let status else { return nil }
        return OutgoingAnswer(status: status, headers: headers, body: body)
    }
}
