import HTTPTypes
import Ledger
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Guards one connection:
/// - Keeps it in the table of open connections.
/// - Closes it if a head or a request misses its deadline.
/// - Applies the rules of `RequestHead`.
/// - Holds back pipelined requests until the previous response is written.
/// - Tells browsers to use TLS only for a public host, if the connection does.
/// - Tells clients of a response after which the connection closes.
/// - Sends no content to HEAD (RFC 9110 section 9.3.2). Hummingbird leaves it out of the responses of routes alone.
///
/// It does all of that itself, because each handler adds a call to every part of every request. A refused request continues
/// without its target and fields, so its response keeps its order. `AdmissionMiddleware` sends the refusal. So does a head that
/// the parser refuses: Hummingbird would answer it with 400 and no body.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time limit of event streams. They end earlier, unless their client does not read.
    private static let streamLimit = TimeAmount.minutes(20)
    /// A year, in which browsers send nothing to this host without TLS (RFC 6797).
    private static let strictTransportSecurity = "max-age=31536000"

    private let table: ConnectionTable
    private let requestTime: TimeAmount
    /// True if the connection uses TLS.
    private let isSecure: Bool
    private var connection: ConnectionTable.Connection?
    /// True while a request has begun and its response is not written.
    private var isAnswering = false
    /// True if the end of the response to the last request has been passed on.
    private var isAnswered = false
    /// True if the parser has refused the body of the last request.
    private var isBodyRefused = false
    /// True if the last request went over TLS to a name of a public host.
    private var requiresTLS = false
    /// True if the last request is the last one of the connection, because its client, a refusal or the parser wants it.
    private var isLastRequest = false
    /// The pipelined requests. They are answered one after another. Otherwise unread responses would fill the memory.
    private var pipelined = CircularBuffer<HTTPRequestPart>()
    private var isReadPending = false
    /// True while the head of a request has been read, and its end has not.
    private var isInRequest = false
    private var parser = Parser.reads
    private var start = Start.unseen
    private var content = Content.sent
    private var deadlines: RequestDeadlines
    private var timer: Scheduled<Void>?
    /// Calls `answerWritten`. It is made once for the connection, not for each response.
    private var onAnswerWritten: @Sendable (()) -> Void = { _ in }

    /// The state of the parser of heads, which reads nothing after its first error.
    private enum Parser {
        case reads
        /// The head is refused after the responses to the requests before it.
        case failed(RequestHead.Refusal)
        case refused
    }

    /// The first bytes of the head that is read, compared with `headStart`: the parser says no method of a head that it refuses.
    private enum Start {
        /// They have not come, or came together with those of an earlier request.
        case unseen
        case equal(count: Int)
        case different
    }

    private static let headStart = Array("HEAD ".utf8)

    /// The content of the response to the last request.
    private enum Content {
        case sent
        /// Only its length and its type are sent, because the request is HEAD.
        case described
        /// None, because the request may be HEAD or not.
        case none
    }

    init(_ table: ConnectionTable, _ configuration: ServerConfiguration) {
        self.table = table
        requestTime = TimeAmount(configuration.requestTime)
        deadlines = RequestDeadlines(headTime: TimeAmount(configuration.headTime))
        isSecure = configuration.tls != nil
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let firstBytes = FirstBytesHandler { _ in
            let (handler, context) = bound.value
            handler.awaitHead(context)
        }
        onAnswerWritten = { _ in
            let (handler, context) = bound.value
            handler.answerWritten(context)
        }
        let pipeline = context.pipeline.syncOperations
        // The handler comes before TLS and HTTP, because neither reports a head that does not end.
        try? pipeline.addHandler(firstBytes, position: .first)
        if let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self) {
            let plainBytes = FirstBytesHandler { bound.value.0.compareStart($0) }
            try? pipeline.addHandler(plainBytes, position: .before(decoder))
        }
        if let codec = try? pipeline.handler(type: HTTP1ToHTTPServerCodec.self) {
            try? pipeline.addHandler(MissingHostHandler(), position: .before(codec))
        }
        awaitHead(context)
        if context.channel.isActive { admit(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        admit(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
        // It holds the handler.
        onAnswerWritten = { _ in }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head: (isInRequest, start) = (true, .unseen)
        case .body: break
        case .end: isInRequest = false
        }
        guard pipelined.isEmpty, canDeliver(part) else { return pipelined.append(part) }
        deliver(part, in: data, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .reads = parser else { return }  // The bytes after the refused head.
        guard !isInRequest, let refusal = RequestHead.Refusal(error) else {
            isBodyRefused = isInRequest && pipelined.isEmpty
            return context.fireErrorCaught(error)
        }
        parser = .failed(refusal)
        deliverRefusal(context)
    }

    /// Compares the bytes before the parser reads them. Where a request ends within them, the parser does not tell.
    private func compareStart(_ bytes: ByteBuffer) {
        guard !isInRequest, case .reads = parser else { return }
        var count: Int
        switch start {
        case .unseen: count = 0
        case .equal(let known) where known < Self.headStart.count: count = known
        case .equal, .different: return
        }
        for byte in bytes.readableBytesView {
            // Empty lines may come first (RFC 9112 section 2.2).
            if count == 0, byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") { continue }
            guard byte == Self.headStart[count] else {
                start = .different
                return
            }
            count += 1
            if count == Self.headStart.count { break }
        }
        start = .equal(count: count)
    }

    /// Delivers a request in place of the head that the parser has refused, if it is its turn.
    private func deliverRefusal(_ context: ChannelHandlerContext) {
        guard case .failed(let refusal) = parser, pipelined.isEmpty, !isAnswering else { return }
        parser = .refused
        // Hummingbird reads nothing more, and a request without an answer would keep the connection open for its whole time.
        guard !isLastRequest else { return }
        requiresTLS = false
        let content: Content
        switch start {
        case .equal(Self.headStart.count): content = .described
        case .unseen, .equal: content = .none
        case .different: content = .sent
        }
        begin(Self.refused(.get, scheme: nil, refusal), content, context)
        end()
        context.fireChannelRead(wrapInboundOut(.end(nil)))
        context.fireChannelReadComplete()
    }

    /// Stops reading while pipelined requests wait. The client must wait.
    func read(context: ChannelHandlerContext) {
        guard pipelined.isEmpty else {
            isReadPending = true
            return
        }
        context.read()
    }

    private func canDeliver(_ part: HTTPRequestPart) -> Bool {
        if case .head = part { !isAnswering } else { true }
    }

    /// - Parameter data: The part as it came. A part that stays as it is needs no new wrapping.
    private func deliver(_ part: HTTPRequestPart, in data: NIOAny, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            requiresTLS = isSecure && head.authority.map(RequestHead.isPublicName) ?? false
            var checked = Self.checked(head)
            if Self.endsParser(head) { checked.headerFields[.connection] = "close" }
            begin(checked, head.method == .head ? .described : .sent, context)
        case .body:
            context.fireChannelRead(data)
        case .end(let trailers):
            end()
            // Trailers are dropped because nothing reads them.
            context.fireChannelRead(trailers == nil ? data : wrapInboundOut(.end(nil)))
        }
    }

    private func begin(_ head: HTTPRequest, _ content: Content, _ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        self.content = content
        (isAnswering, isAnswered) = (true, false)
        // Hummingbird closes the connection after exactly this value, and does not say so.
        isLastRequest = head.headerFields[.connection] == "close"
        connection?.requestBegan(at: now)
        perform(deadlines.requestBegan(until: now + requestTime), context)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func end() {
        if isAnswering { connection?.requestRead() }
        deadlines.requestRead()
    }

    /// Delivers the pipelined parts, up to the next request that must wait.
    private func deliverPipelined(_ context: ChannelHandlerContext) {
        guard !pipelined.isEmpty else { return }
        while let part = pipelined.first, canDeliver(part) {
            pipelined.removeFirst()
            deliver(part, in: wrapInboundOut(part), context)
        }
        context.fireChannelReadComplete()
        guard pipelined.isEmpty, isReadPending else { return }
        isReadPending = false
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { connection?.clientClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Hummingbird answers a body that the parser refuses with 400, also after an answer of its own, such as 401. A proxy could take the
        // second response for that to another request.
        guard !(isBodyRefused && isAnswered) else {
            promise?.succeed(())
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if head.headerFields[.contentType] == ServerSentEvents.contentType {
                deadlines.answerStreams(until: .now() + Self.streamLimit)
            }
            guard requiresTLS || isLastRequest else { return context.write(data, promise: promise) }
            if requiresTLS { head.headerFields[.strictTransportSecurity] = Self.strictTransportSecurity }
            // Without it, a client may send its next request here (RFC 9112 section 9.6).
            if isLastRequest { head.headerFields[.connection] = "close" }
            if case .none = content {
                head.headerFields[.contentType] = nil
                head.headerFields[.contentLength] = "0"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            guard case .sent = content else {
                promise?.succeed(())
                return
            }
            context.write(data, promise: promise)
        case .end:
            isAnswered = true
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.whenSuccess(onAnswerWritten)
            context.write(data, promise: written)
        }
    }

    private func answerWritten(_ context: ChannelHandlerContext) {
        deadlines.answerWritten()
        isAnswering = false
        connection?.requestsEnded(at: .now())
        deliverPipelined(context)
        deliverRefusal(context)
    }

    /// True if NIO's parser reads nothing after a request: the client offers another protocol, as Java's `HttpClient` does without TLS
    /// (`Upgrade: h2c`). The request is answered without it (RFC 9110 section 7.8), and the next one needs another connection.
    private static func endsParser(_ head: HTTPRequest) -> Bool {
        head.method == .connect || head.headerFields[.upgrade] != nil
    }

    private static func checked(_ head: HTTPRequest) -> HTTPRequest {
        switch RequestHead.checked(head) {
        case .success(let checked): return checked
        case .failure(let refusal): return refused(head.method, scheme: head.scheme, refusal)
        }
    }

    private static func refused(
        _ method: HTTPRequest.Method, scheme: String?, _ refusal: RequestHead.Refusal
    ) -> HTTPRequest {
        var refused = HTTPRequest(method: method, scheme: scheme, authority: nil, path: "/")
        if let name = HTTPField.Name.refusal { refused.headerFields[name] = refusal.rawValue }
        refused.headerFields[.connection] = "close"
        return refused
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard connection == nil else { return }
        let channel = context.channel
        let network = ClientNetwork(channel.remoteAddress)
        let connection = ConnectionTable.Connection(from: network, at: .now()) { channel.close(promise: nil) }
        guard table.admit(connection, at: .now()) else {
            context.close(promise: nil)
            return
        }
        self.connection = connection
    }

    private func leave() {
        if let connection { table.remove(connection) }
        connection = nil
        pipelined.removeAll()
        timer?.cancel()
        timer = nil
    }

    private func awaitHead(_ context: ChannelHandlerContext) {
        guard deadlines.mayAwaitHead else { return }
        perform(deadlines.headAwaited(at: .now()), context)
    }

    private func perform(_ action: RequestDeadlines.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .schedule(let deadline):
            timer?.cancel()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            timer = context.eventLoop.scheduleTask(deadline: deadline) {
                let (handler, context) = bound.value
                handler.perform(handler.deadlines.timerFired(at: .now()), context)
            }
        case .close: context.close(promise: nil)
        case .none: break
        }
    }
}

/// Reports incoming bytes, which may begin the head of a request.
final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let onBytes: (ByteBuffer) -> Void

    init(onBytes: @escaping (ByteBuffer) -> Void) {
        self.onBytes = onBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onBytes(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }
}

/// Gives a request of HTTP/1.0 without `Host` a host. Later versions require one, and `HTTPRequest` keeps no version.
///
/// Load balancers check the health of a service with such requests.
final class MissingHostHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0,
            !head.headers.contains(name: "Host")
        else { return context.fireChannelRead(data) }
        head.headers.add(name: "Host", value: "localhost")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}

/// The deadlines of one connection: for the next head, and for the requests in progress in their order.
///
/// The time for a head begins with the connection, or with the first byte after a response. The time for a request
/// begins with its head. It ends when the request is read completely and the response is written completely. An event
/// stream has more time.
package struct RequestDeadlines {
    /// The action that the owner of the timer must perform.
    package enum Action: Equatable {
        /// Replaces the timer.
        case schedule(NIODeadline)
        case close
        case none
    }

    private struct Exchange {
        var deadline: NIODeadline
        var isRead = false
        var isAnswered = false
    }

    private let headTime: TimeAmount

    /// The requests in progress, oldest first. There are several if the client pipelines (RFC 9112 section 9.3.2).
    private var open: [Exchange] = []
    /// The deadline for the next head. Nil if none is expected.
    private var headDeadline: NIODeadline?
    /// The time at which the timer fires. Nil without a timer. Replacing the timer for each request would cost more
    /// than firing early.
    private var timer: NIODeadline?

    package init(headTime: TimeAmount) {
        self.headTime = headTime
    }

    /// True if the next bytes may begin a head.
    var mayAwaitHead: Bool { open.isEmpty && headDeadline == nil }

    /// Records that a client has connected, or that bytes have arrived.
    package mutating func headAwaited(at now: NIODeadline) -> Action {
        guard mayAwaitHead else { return .none }
        let deadline = now + headTime
        headDeadline = deadline
        return setTimer(deadline)
    }

    package mutating func requestBegan(until deadline: NIODeadline) -> Action {
        headDeadline = nil
        open.append(Exchange(deadline: deadline))
        return setTimer(deadline)
    }

    /// Extends the deadline of the response that is being written.
    package mutating func answerStreams(until deadline: NIODeadline) {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].deadline = deadline
    }

    package mutating func requestRead() {
        guard let last = open.indices.last else { return }
        open[last].isRead = true
        removeFinished()
    }

    package mutating func answerWritten() {
        guard let first = open.firstIndex(where: { !$0.isAnswered }) else { return }
        open[first].isAnswered = true
        removeFinished()
    }

    package mutating func timerFired(at now: NIODeadline) -> Action {
        timer = nil
        guard let first = [headDeadline, open.first?.deadline].compactMap(\.self).min() else { return .none }
        return first > now ? setTimer(first) : .close
    }

    private mutating func setTimer(_ deadline: NIODeadline) -> Action {
        if let timer, timer <= deadline { return .none }
        timer = deadline
        return .schedule(deadline)
    }

    private mutating func removeFinished() {
        guard let first = open.first, first.isRead, first.isAnswered else { return }
        open.removeFirst()
    }
}
