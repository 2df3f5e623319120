import CCurl

/// A transfer of libcurl (an "easy handle"), with all that libcurl reads until its end. They are freed together.
///
/// It has what all transfers of Till have: verified TLS with forward secrecy, no proxy of the environment, no signals.
package final class CurlHandle {
    /// libcurl takes a setting not, or has no memory.
    package struct Refusal: Error {}

    /// The state of libcurl that all threads share.
    fileprivate static let isStarted = till_curl_start() == CURLE_OK

    /// Starts libcurl before a program has threads: the start changes the environment, which no other thread may then read. Without it,
    /// the first transfer starts libcurl.
    ///
    /// - Returns: False if no transfer will be possible.
    @discardableResult package static func start() -> Bool { isStarted }

    package let pointer: UnsafeMutableRawPointer
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private var bytes: UnsafeMutableBufferPointer<UInt8>?
    private var source: UnsafeMutablePointer<TillCurlSource>?
    private weak var receiver: (any CurlReceiver)?

    /// - Parameter limit: The longest wait for a connection, with its TLS.
    package init(connectingWithin limit: Duration) throws(Refusal) {
        guard CurlHandle.isStarted, let pointer = curl_easy_init() else { throw Refusal() }
        self.pointer = pointer
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // Of TLS 1.2, the suites with ephemeral keys and authenticated encryption, in OpenSSL's words.
        try set(CURLOPT_SSL_CIPHER_LIST, "ECDHE+AESGCM:ECDHE+CHACHA20")
        try set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(limit / .milliseconds(1))))
        // Timeouts without signals, which would reach any thread.
        try set(CURLOPT_NOSIGNAL, 1)
        // Not the proxy of the environment.
        try set(CURLOPT_PROXY, "")
        try check(till_curl_set_private_sockets(pointer))
    }

    deinit {
        curl_easy_cleanup(pointer)
        for list in lists { curl_slist_free_all(list) }
        bytes?.deallocate()
        source?.deallocate()
    }

    private func check(_ code: CURLcode) throws(Refusal) {
        if code != CURLE_OK { throw Refusal() }
    }

    /// - Parameter text: Nil for none, also in place of libcurl's own. A NUL would end it.
    package func set(_ option: CURLoption, _ text: String?) throws(Refusal) {
        guard text?.utf8.contains(0) != true else { throw Refusal() }
        try check(till_curl_set_text(pointer, option, text))
    }

    package func set(_ option: CURLoption, _ number: Int) throws(Refusal) {
        try check(till_curl_set_number(pointer, option, number))
    }

    package func set(_ option: CURLoption, _ bytes: [UInt8]) throws(Refusal) {
        try check(till_curl_set_bytes(pointer, option, bytes, bytes.count))
    }

    package func set(_ option: CURLoption, _ texts: [String]) throws(Refusal) {
        var list: UnsafeMutablePointer<curl_slist>?
        for text in texts {
            guard !text.utf8.contains(0), let longer = curl_slist_append(list, text) else {
                curl_slist_free_all(list)
                throw Refusal()
            }
            list = longer
        }
        guard let list else { return }
        lists.append(list)
        try check(till_curl_set_list(pointer, option, list))
    }

    /// Restricts the transfer to HTTP and HTTPS. Its end, at any time, does not hold up the other transfers of its thread.
    func useHTTP() throws(Refusal) {
        try check(till_curl_set_http(pointer))
        till_curl_end_lookups_at_once(pointer)
    }

    /// Sends bytes. libcurl cannot read them a second time, so no transfer sends them twice.
    ///
    /// - Parameter statesSize: True to state their number before.
    package func upload(_ content: [UInt8], statesSize: Bool) throws(Refusal) {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: content.count)
        _ = bytes.initialize(from: content)
        self.bytes = bytes
        let source = UnsafeMutablePointer<TillCurlSource>.allocate(capacity: 1)
        source.initialize(to: TillCurlSource(bytes: bytes.baseAddress, count: bytes.count, position: 0))
        self.source = source
        try check(till_curl_set_source(pointer, source))
        if statesSize { try check(till_curl_set_size(pointer, CURLOPT_INFILESIZE_LARGE, Int64(content.count))) }
    }

    /// Sets the receiver of the answer, which the caller keeps until the end.
    func receive(by receiver: any CurlReceiver) throws(Refusal) {
        self.receiver = receiver
        let code = till_curl_set_sinks(
            pointer, { bytes, _, count, handle in CurlHandle.take(bytes, count, handle) { $0.takeHead($1) } },
            { bytes, _, count, handle in CurlHandle.take(bytes, count, handle) { $0.takeBody($1) } },
            Unmanaged.passUnretained(self).toOpaque())
        try check(code)
    }

    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ handle: UnsafeMutableRawPointer?,
        _ take: (any CurlReceiver, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let handle else { return 0 }
        let receiver = Unmanaged<CurlHandle>.fromOpaque(handle).takeUnretainedValue().receiver
        guard let receiver, take(receiver, UnsafeRawBufferPointer(start: bytes, count: count)) else { return 0 }
        return count
    }

    /// Runs the transfer, and blocks until its end.
    package func perform() -> CURLcode { curl_easy_perform(pointer) }

    /// The code that the server answered with last; 0 if it did not.
    package var responseCode: Int { till_curl_response_code(pointer) }
}

/// The receiver of an answer, called on the thread of its transfer. It returns false to end the transfer.
protocol CurlReceiver: AnyObject {
    /// - Parameter line: With its end. Provisional answers and trailers come, too.
    func takeHead(_ line: UnsafeRawBufferPointer) -> Bool

    func takeBody(_ part: UnsafeRawBufferPointer) -> Bool
}

extension CURLcode {
    /// True if TLS failed: a certificate is not trusted, or the server does not speak it.
    package var isOfTLS: Bool {
        [
            CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        ].contains(self)
    }
}

/// The transfers of one thread (a "multi handle"), with the connections that they leave open.
final class CurlTransfers {
    /// The largest number of open connections without a transfer.
    private static let maximumIdleConnections = 128

    private let pointer: UnsafeMutableRawPointer

    /// - Parameter connectionsPerHost: The largest number of connections to a host, after which a transfer waits; 0 for no limit.
    /// - Returns: Nil without memory or file descriptors.
    init?(connectionsPerHost: Int) {
        // A multi handle makes an easy handle for itself, which would start libcurl in its own way.
        guard CurlHandle.isStarted, let pointer = curl_multi_init() else { return nil }
        self.pointer = pointer
        guard till_curl_limit(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost) == CURLM_OK,
            till_curl_limit(pointer, CURLMOPT_MAXCONNECTS, Self.maximumIdleConnections) == CURLM_OK,
            // Without a file descriptor for it, `wake` has no effect, and requests wait for the end of a wait.
            curl_multi_wakeup(pointer) == CURLM_OK
        else { return nil }
    }

    deinit { curl_multi_cleanup(pointer) }

    /// The address for `wake`, which is no pointer that may cross threads.
    var address: Int { Int(bitPattern: pointer) }

    /// Ends the wait of the thread. Any thread may call it while the transfers exist.
    static func wake(_ address: Int) {
        curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: address))
    }

    func add(_ handle: CurlHandle) -> Bool { curl_multi_add_handle(pointer, handle.pointer) == CURLM_OK }

    /// Removes a transfer at any time. One that has not ended closes its connection, or its stream of HTTP/2.
    func remove(_ handle: CurlHandle) { curl_multi_remove_handle(pointer, handle.pointer) }

    /// Does what can be done without waiting.
    ///
    /// - Returns: The transfers that have ended, by the pointers of their handles; nil if libcurl has failed.
    func perform() -> [(handle: UnsafeMutableRawPointer, code: CURLcode)]? {
        var running: Int32 = 0
        guard curl_multi_perform(pointer, &running) == CURLM_OK else { return nil }
        var ended: [(UnsafeMutableRawPointer, CURLcode)] = []
        var waiting: Int32 = 0
        while let message = curl_multi_info_read(pointer, &waiting)?.pointee {
            if message.msg == CURLMSG_DONE, let handle = message.easy_handle {
                ended.append((handle, message.data.result))
            }
        }
        return ended
    }

    /// Waits until something can be done, or `wake` is called.
    ///
    /// - Returns: False if libcurl has failed.
    func wait(atMost limit: Duration) -> Bool {
        // A part of a millisecond is a whole one, lest the thread runs in circles.
        let milliseconds = Int32(min(60_000, max(0, (limit / .milliseconds(1)).rounded(.up))))
        return curl_multi_poll(pointer, nil, 0, milliseconds, nil) == CURLM_OK
    }
}
