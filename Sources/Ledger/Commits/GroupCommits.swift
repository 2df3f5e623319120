import Dispatch
import Foundation
import NIOPosix
import Synchronization
import Vocabulary

/// The queue of use cases that write. Use cases that wait together share a commit, and each returns after it.
///
/// One commit runs at a time; `Documentation/Benchmarks.md` compares more. If too many use cases wait, the queue refuses the
/// next, those of low priority first. So memory is bounded even if the disk is slow.
final class GroupCommits: Sendable {
    /// The largest number of requests that share a commit.
    private static let maximumGroup = 128
    /// The largest number of requests that wait.
    private static let maximumWaiting = 512

    private let storage: any LedgerStorage
    /// A separate thread, because commits wait for the disk.
    private let thread = DispatchQueue(label: "till.commits")
    private let state = Mutex(State())
    private let observers = Mutex<[@Sendable (Duration) -> Void]>([])
    private let breachObservers = Mutex<[@Sendable (BrokenInvariant) -> Void]>([])

    init(_ storage: any LedgerStorage) {
        self.storage = storage
    }

    /// A part, and the action after its commit.
    struct Work: Sendable {
        let count: Int
        let part: @Sendable () -> LedgerPart
        /// Receives the error of each request of the part.
        let finish: @Sendable ([(any Error)?]) -> Void
    }

    private struct State {
        /// The batch of each waiting request.
        var waiting: [any BatchQueue] = []
        var isCommitting = false
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// True if a place is free for a request of the priority.
    func hasPlace(for priority: CommitPriority) -> Bool {
        waitingCount < priority.places(of: Self.maximumWaiting)
    }

    func observe(_ observer: @escaping @Sendable (Duration) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    func observeBreaches(_ observer: @escaping @Sendable (BrokenInvariant) -> Void) {
        breachObservers.withLock { $0.append(observer) }
    }

    /// Runs a use case, which is a batch of its own.
    func run<Value: Sendable>(
        _ useCase: @escaping @Sendable (any LedgerDatabase) throws -> Value
    ) async throws -> Value {
        try await LedgerBatch<Void, Value>(self, upTo: 1) { _, database in [try useCase(database)] }.answer(())
    }

    var overloaded: StorageFault { StorageFault(cause: .overloaded, path: storage.damaged.path) }

    /// Adds the next request of a batch to the queue.
    ///
    /// - Parameter admit: Runs if the request is accepted, before its commit begins.
    /// - Returns: False if too many requests wait for the priority of the task.
    func enqueue(_ batch: any BatchQueue, _ admit: () -> Void) -> Bool {
        let places = CommitPriority.current.places(of: Self.maximumWaiting)
        let (isAccepted, begins) = state.withLock { state in
            guard state.waiting.count < places else { return (false, false) }
            admit()
            state.waiting.append(batch)
            defer { state.isCommitting = true }
            return (true, !state.isCommitting)
        }
        if begins { thread.async { self.commitAll() } }
        return isAccepted
    }

    /// Commits groups until the queue is empty.
    private func commitAll() {
        while let waiting = next() {
            let started = ContinuousClock.now
            let works = works(of: waiting)
            var errors = storage.commit(works.map { $0.part() })[...]
            let time = ContinuousClock.now - started
            for observer in observers.withLock({ $0 }) { observer(time) }
            for case let breach as BrokenInvariant in errors {
                for observer in breachObservers.withLock({ $0 }) { observer(breach) }
            }
            for work in works {
                work.finish(Array(errors.prefix(work.count)))
                errors = errors.dropFirst(work.count)
            }
        }
    }

    private func next() -> [any BatchQueue]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isCommitting = false
                return nil
            }
            defer { state.waiting = Array(state.waiting.dropFirst(Self.maximumGroup)) }
            return Array(state.waiting.prefix(Self.maximumGroup))
        }
    }

    /// The parts of a group. Requests of one batch become one part, at the place of the first.
    private func works(of requests: [any BatchQueue]) -> [Work] {
        var counts: [ObjectIdentifier: Int] = [:]
        for batch in requests { counts[ObjectIdentifier(batch), default: 0] += 1 }
        return requests.flatMap { batch in
            counts.removeValue(forKey: ObjectIdentifier(batch)).map(batch.dequeue) ?? []
        }
    }
}

/// The threads that run reads.
///
/// A hop to another thread and back costs more than a read from a ledger in a file, so these reads run inline. All ledgers of
/// the process together leave one thread free of inline reads, because a disk that hangs would block all threads. A read from a
/// database server waits for the network, so it has one of as many threads as connections may read; with one for each core, a server
/// 1 ms away answered 177 reads a second. Long reads, such as exports, have threads of their own: a few would hold up each short
/// read.
final class ReadThreads: Sendable {
    private static let maximumInlineReads = ProcessInfo.processInfo.activeProcessorCount - 1
    private static let longReads = started(threads: 2)
    private static let shortReads = started(threads: PostgreSQLPool.maximumReads)

    private static func started(threads: Int) -> NIOThreadPool {
        let pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
        return pool
    }

    /// The reads that run inline in this process.
    private static let inlineReads = Atomic(0)

    private let runsInline: Bool
    /// The threads of reads that do not run inline.
    private let reads: NIOThreadPool
    /// The reads that wait for a thread or have one.
    private let submitted = Atomic(0)
    private let running = Atomic(0)

    init(for storage: any LedgerStorage) {
        runsInline = storage.dialect == .sqlite
        reads = runsInline ? .singleton : Self.shortReads
    }

    var waitingCount: Int { max(0, submitted.load(ordering: .relaxed) - running.load(ordering: .relaxed)) }

    @inline(never)  // The optimizer of Swift 6.3 crashes if it inlines this.
    func run<Value: Sendable>(
        isLong: Bool = false, _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard runsInline, !isLong, Self.reserveInlineRead() else {
            submitted.add(1, ordering: .relaxed)
            // A cancelled read never gets a thread.
            defer { submitted.subtract(1, ordering: .relaxed) }
            return try await (isLong ? Self.longReads : reads).runIfActive { [self] in
                running.add(1, ordering: .relaxed)
                defer { running.subtract(1, ordering: .relaxed) }
                return try read()
            }
        }
        defer { Self.inlineReads.subtract(1, ordering: .relaxed) }
        return try read()
    }

    private static func reserveInlineRead() -> Bool {
        guard inlineReads.add(1, ordering: .relaxed).oldValue >= maximumInlineReads else { return true }
        inlineReads.subtract(1, ordering: .relaxed)
        return false
    }
}
