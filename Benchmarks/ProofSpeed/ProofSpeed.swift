import Benchmark
import Dispatch
import Proofs

/// The time to verify proofs. `Scripts/bench.sh` compares each figure with OpenSSL's time for the signatures alone.
let benchmarks: @Sendable () -> Void = {
    let samples: Samples
    do { samples = try Samples() } catch { preconditionFailure("No samples: \(error)") }

    func measure(_ name: String, _ body: @escaping (Benchmark) -> Void) {
        let configuration = Benchmark.Configuration(
            metrics: [.wallClock], timeUnits: .nanoseconds, warmupIterations: 2, maxDuration: .seconds(3))
        Benchmark(name, configuration: configuration, closure: body)
    }

    /// Performs the body a thousand times in each measurement, on each thread.
    func measureThousand(_ name: String, threads: Int = 1, _ body: @escaping @Sendable (Int) -> Void) {
        measure(name) { benchmark in
            let first = benchmark.currentIteration * 1000
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                for number in 0..<1000 { body(first + thread * 1000 + number) }
            }
        }
    }
    let verifier = ProofVerifier(anchors: samples.anchors, clock: Samples.clock)
    @Sendable func verifyTransaction(_ number: Int) {
        verify(samples.transactions[number % samples.transactions.count], with: verifier)
    }
    measureThousand("1000 transactions", verifyTransaction)
    measureThousand("2 x 1000 transactions on 2 threads", threads: 2, verifyTransaction)
    measureThousand("1000 signatures", samples.verifySignature)
    measureThousand("2 x 1000 signatures on 2 threads", threads: 2, samples.verifySignature)
    measureThousand("1000 receipts of 10") { number in
        verify(samples.receiptsOfTen[number % samples.receiptsOfTen.count], with: verifier)
    }
    measureThousand("1000 receipts of 187") { number in
        verify(samples.receiptsOf187[number % samples.receiptsOf187.count], with: verifier)
    }
    let purchaseVerifier = SignedPurchaseVerifier(keys: [samples.appKey], clock: Samples.clock)
    measureThousand("1000 signed purchases") { number in
        let purchase = samples.purchases[number % samples.purchases.count]
        do { blackHole(try purchaseVerifier.verify(purchase)) } catch { preconditionFailure("\(error)") }
    }

    /// Verifies a proof with a new verifier, whose cache is empty.
    func measureUnknown(_ name: String, _ proofs: [[UInt8]]) {
        measure(name) { benchmark in
            let verifier = ProofVerifier(anchors: samples.anchors, clock: Samples.clock)
            verify(proofs[benchmark.currentIteration % proofs.count], with: verifier)
        }
    }
    measureUnknown("1 transaction of an unknown chain", samples.transactions)
    measureUnknown("1 receipt of 10 of an unknown chain", samples.receiptsOfTen)

    let leafVerifier = ProofVerifier(anchors: samples.anchors, clock: Samples.clock)
    measure("1 transaction of an unknown leaf") { benchmark in
        let proofs = samples.transactionsOfLeaves
        verify(proofs[benchmark.currentIteration % proofs.count], with: leafVerifier)
    }

    measure("2 certificates") { _ in
        for der in samples.certificates { blackHole(Certificate(der: der)) }
    }
}

/// Verifies a proof. A refusal would make every figure worthless, so it ends the run.
private func verify(_ proof: [UInt8], with verifier: ProofVerifier) {
    do { blackHole(try verifier.verify(proof, expecting: .init())) } catch { preconditionFailure("\(error)") }
}
