import Hummingbird
import Synchronization

/// What the service knows of a request besides the request itself.
public struct ServiceContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// nil until the caller is recognised.
    var caller: Caller? {
        didSet { notes.set(caller) }
    }
    /// What is learnt of the request further in, for whoever has sent it on its way.
    let notes = RequestNotes()

    /// - Throws: `Problem` on a route that asks for no caller, which is a mistake of the service's own.
    var requiredCaller: Caller {
        get throws(Problem) {
            guard let caller else { throw .unexpected }
            return caller
        }
    }

    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }
}

/// What is learnt of a request while it is answered; shared by all copies of its context.
final class RequestNotes: Sendable {
    private let callerKey = Mutex<String?>(nil)
    private let problemCode = Mutex<String?>(nil)

    /// The code of the problem it was answered with.
    var code: String? {
        get { problemCode.withLock { $0 } }
        set { problemCode.withLock { $0 = newValue } }
    }

    /// The identifier of the API key the request came with; nil where there was none.
    var key: String? { callerKey.withLock { $0 } }

    func set(_ caller: Caller?) {
        if case .backEnd(let key, _) = caller { callerKey.withLock { $0 = key } }
    }
}
