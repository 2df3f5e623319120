import Dispatch
import Ledger
import Testing

extension Ledger {
    /// Begins a commit that hangs until the caller signals the semaphore.
    package func hangCommit() async -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        Task {
            try await write { _ in
                beginning.finish()
                gate.wait()
            }
        }
        for await _ in begun {}
        return gate
    }

    /// Runs a closure while the writer is held and use cases wait for it. They are committed afterwards.
    package func holding(_ count: Int, _ body: () async throws -> Void) async throws {
        let gate = await hangCommit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { try await write { _ in } } }
            await expectEventually { waitingCount == count }
            // A failing closure releases the writer, too.
            defer { gate.signal() }
            try await body()
        }
    }
}
