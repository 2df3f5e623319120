import Commerce
import Hummingbird
import NIOCore
import Synchronization

/// What the service knows of a request besides the request itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// Who is at the other end of the connection: a client, or a proxy.
    let remoteAddress: SocketAddress?
    /// nil until the caller is recognised.
    var caller: Caller? {
        didSet { if case .backEnd(let key, _) = caller { notes.key = key } }
    }
    /// What is learnt of the request further in, for whoever has sent it on its way.
    let notes = RequestNotes()

    /// The app's user.
    ///
    /// - Throws: `Problem` on a route that is not for apps alone, which is a mistake of the service's own.
    var requiredUser: User {
        get throws(Problem) {
            guard case .app(let user) = caller else { throw .unexpected }
            return user
        }
    }

    /// - Throws: `Problem` on a route that asks for no caller, which is a mistake of the service's own.
    var requiredCaller: Caller {
        get throws(Problem) {
            guard let caller else { throw .unexpected }
            return caller
        }
    }

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// What is learnt of a request while it is answered; shared by all copies of its context.
final class RequestNotes: Sendable {
    private let notes = Mutex<(key: String?, code: String?)>((nil, nil))

    /// The identifier of the API key the request came with; nil where there was none.
    var key: String? {
        get { notes.withLock { $0.key } }
        set { notes.withLock { $0.key = newValue } }
    }

    /// The code of the problem it was answered with; nil where there was none.
    var code: String? {
        get { notes.withLock { $0.code } }
        set { notes.withLock { $0.code = newValue } }
    }
}
