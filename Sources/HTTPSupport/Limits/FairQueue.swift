import Ledger
import NIOCore

/// A bounded queue in which strangers wait for work, by client network.
///
/// - Sites take turns, and inside a site its networks do. So the number of requests of one network delays no other one.
/// - One site has a quarter of the places at most. A full queue gives a place of the network with the most to a network that has at
///   least two fewer.
/// - Preferred callers have a queue of their own, and three of four turns while others wait.
package struct FairQueue<Element> {
    /// The result of joining the queue.
    package enum Admission {
        case admitted
        /// Admitted in the place of another one, which has to be refused.
        case replacing(Element)
        case refused
    }

    /// The part of the places that one site has at most.
    private static var partsOfSite: Int { 4 }
    /// Of so many turns, one is for the others, although preferred callers wait.
    private static var turnsOfOthers: Int { 4 }

    private let maximum: Int
    private var preferred = FairLine<Element>()
    private var others = FairLine<Element>()
    private var turn = 0

    /// - Parameter maximum: The number of places of preferred callers, and of others.
    package init(maximum: Int) {
        self.maximum = maximum
    }

    package var count: Int { preferred.count + others.count }

    package mutating func add(
        _ element: Element, from network: ClientNetwork, isPreferred: Bool = false
    ) -> Admission {
        isPreferred ? add(element, network, to: &preferred) : add(element, network, to: &others)
    }

    private func add(_ element: Element, _ network: ClientNetwork, to line: inout FairLine<Element>) -> Admission {
        let path = ArraySlice(network.nested.reversed())
        var admission = Admission.admitted
        let isSiteFull = line.count(of: network.site) >= max(1, maximum / Self.partsOfSite)
        if isSiteFull || line.count >= maximum {
            guard let last = isSiteFull ? line.removeInside(path) : line.removeFairly(for: path) else {
                return .refused
            }
            admission = .replacing(last)
        }
        line.append(element, along: path)
        return admission
    }

    /// Removes the element whose turn it is.
    package mutating func next() -> Element? {
        turn = (turn + 1) % Self.turnsOfOthers
        if turn == 0, let next = others.popFirst() { return next }
        return preferred.popFirst() ?? others.popFirst()
    }
}

/// The waiting elements of a network: of the networks inside it, which take turns, or of a host, in their order.
private struct FairLine<Element> {
    /// The elements of a host.
    private var elements = CircularBuffer<Element>()
    private var inner: [ClientNetwork: FairLine] = [:]
    /// The inner networks in the order of their turns.
    private var turns = CircularBuffer<ClientNetwork>()
    private(set) var count = 0

    func count(of network: ClientNetwork) -> Int { inner[network]?.count ?? 0 }

    /// - Parameter path: The networks inside this one to which the element belongs, widest first.
    mutating func append(_ element: Element, along path: ArraySlice<ClientNetwork>) {
        count += 1
        guard let network = path.first else { return elements.append(element) }
        if inner[network] == nil { turns.append(network) }
        inner[network, default: FairLine()].append(element, along: path.dropFirst())
    }

    mutating func popFirst() -> Element? {
        if let element = elements.popFirst() {
            count -= 1
            return element
        }
        guard let network = turns.popFirst(), let element = inner[network]?.popFirst() else { return nil }
        count -= 1
        if count(of: network) > 0 { turns.append(network) } else { inner[network] = nil }
        return element
    }

    /// Removes the last element of the network with the most, for a new element.
    ///
    /// - Returns: Nil if the networks of the new element have about as many.
    mutating func removeFairly(for path: ArraySlice<ClientNetwork>) -> Element? {
        guard let network = path.first, let largest else { return nil }
        // With one fewer, both would take the place from each other for ever.
        return count(of: network) + 2 <= count(of: largest) ? removeLast() : removeInside(path)
    }

    /// Removes an element of the network that a path leads to, as above.
    mutating func removeInside(_ path: ArraySlice<ClientNetwork>) -> Element? {
        guard let network = path.first, let element = inner[network]?.removeFairly(for: path.dropFirst()) else {
            return nil
        }
        count -= 1
        return element
    }

    /// The inner network with the most elements.
    private var largest: ClientNetwork? { turns.max { count(of: $0) < count(of: $1) } }

    /// Removes the last element of the host with the most, in the network with the most.
    private mutating func removeLast() -> Element? {
        guard let largest else {
            let element = elements.popLast()
            if element != nil { count -= 1 }
            return element
        }
        guard let element = inner[largest]?.removeLast() else { return nil }
        count -= 1
        if count(of: largest) == 0 {
            inner[largest] = nil
            turns.removeAll { $0 == largest }
        }
        return element
    }
}
