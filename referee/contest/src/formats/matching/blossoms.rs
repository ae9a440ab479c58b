//! Edmonds' blossom algorithm for the cheapest perfect matching, growing one tree at a time.
//!
//! The linear program behind it (Edmonds 1965): the least cost is the greatest sum of dual values,
//! one of each vertex and one, not negative, of each odd set of vertices (a blossom), such that for
//! every edge the values of what it leads out of sum up to no more than its cost. The difference is
//! the edge's slack. Edges without slack are tight; only those are matched.
//!
//! From an unmatched root a tree of tight edges grows, in which plus and minus nodes alternate. A
//! node is a vertex or a blossom. When nothing is tight, the values of plus nodes rise and those
//! of minus nodes fall by as much as possible. Two plus nodes that touch close a blossom; a minus
//! blossom whose value reaches nothing opens; an unmatched node ends the tree, and along the path
//! to it matched and unmatched edges change places. What a blossom's inside is matched like
//! follows from where the matched edge enters it, and is worked out only when it opens.
//!
//! All costs are taken twice, so that halves never occur: all vertices of a tree have values of the
//! same parity, because tight edges of even cost link them.

mod slacks;

pub(super) use slacks::Slacks;

use super::Cost;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a node is in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Outside,
    Plus,
    Minus,
}

/// A vertex or a blossom.
#[derive(Debug)]
struct Node<const N: usize> {
    /// The vertices in it.
    members: Vec<usize>,
    /// Of a blossom: its parts around the cycle.
    parts: Vec<usize>,
    /// `links[i]` is the edge from a vertex in `parts[i]` to one in the next part.
    links: Vec<(usize, usize)>,
    /// The blossom that it is a part of.
    parent: Option<usize>,
    /// Of a blossom: its dual value, as of `since`.
    value: Cost<N>,
    /// The matched edge, from a vertex in it; right only of nodes that are part of no other.
    mate: Option<(usize, usize)>,
    role: Role,
    /// Of a minus node: the tree's edge into it.
    entry: (usize, usize),
    /// How far the tree had grown when values were last brought up to date.
    since: Cost<N>,
}

/// What will happen when the tree has grown so far. Events may have become void by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A minus blossom's value reaches nothing.
    Open(usize),
    /// An edge becomes tight.
    Tight(usize),
}

/// The search, and afterwards its result.
#[derive(Debug)]
pub(super) struct Blossoms<const N: usize> {
    /// Two vertices and twice the cost.
    edges: Vec<(usize, usize, Cost<N>)>,
    /// The edges of each vertex.
    around: Vec<Vec<usize>>,
    /// The sum of the values of all nodes that a vertex is in, as of its outermost node's `since`.
    reach: Vec<Cost<N>>,
    /// The outermost node that a vertex is in.
    top: Vec<usize>,
    /// The vertices, then blossoms.
    nodes: Vec<Node<N>>,
    /// Blossoms that were opened: free to be used again.
    spare: Vec<usize>,
    /// How far the tree has grown.
    grown: Cost<N>,
    events: BinaryHeap<Reverse<(Cost<N>, Event)>>,
    /// Nodes that were in the tree at some time.
    tree: Vec<usize>,
}

impl<const N: usize> Blossoms<N> {
    /// Before the search: values such that every vertex has a tight edge at half of its way.
    pub(super) fn new(
        count: usize,
        edges: &[(usize, usize)],
        cost: &impl Fn(usize, usize) -> Cost<N>,
    ) -> Self {
        let edges: Vec<_> = edges.iter().map(|&(u, v)| (u, v, cost(u, v).double())).collect();
        let mut around = vec![Vec::new(); count];
        for (index, &(u, v, _)) in edges.iter().enumerate() {
            around[u].push(index);
            around[v].push(index);
        }
        let cheapest = |own: &Vec<usize>| own.iter().map(|&edge| edges[edge].2).min();
        let reach = around.iter().map(|own| cheapest(own).unwrap_or(Cost::ZERO).half()).collect();
        let nodes = (0..count).map(|vertex| Node::new(vec![vertex])).collect();
        Self {
            edges,
            around,
            reach,
            top: (0..count).collect(),
            nodes,
            spare: Vec::new(),
            grown: Cost::ZERO,
            events: BinaryHeap::new(),
            tree: Vec::new(),
        }
    }

    /// Matches every vertex, if the edges allow it.
    pub(super) fn run(&mut self) {
        for index in 0..self.edges.len() {
            let (u, v, cost) = self.edges[index];
            let free = self.nodes[u].mate.is_none() && self.nodes[v].mate.is_none();
            if free && self.reach[u] + self.reach[v] == cost {
                self.nodes[u].mate = Some((u, v));
                self.nodes[v].mate = Some((v, u));
            }
        }
        for vertex in 0..self.top.len() {
            if self.nodes[self.top[vertex]].mate.is_none() {
                self.grow(self.top[vertex]);
            }
        }
    }

    /// The pairs, each with the smaller vertex first.
    pub(super) fn into_pairs(mut self) -> Vec<(usize, usize)> {
        for vertex in 0..self.top.len() {
            while self.top[vertex] != vertex {
                self.open(self.top[vertex]);
            }
        }
        let matched = self.nodes.iter().take(self.top.len()).filter_map(|node| node.mate);
        matched.filter(|(u, v)| u < v).collect()
    }

    /// Grows a tree from an unmatched node until it meets another.
    fn grow(&mut self, root: usize) {
        self.grown = Cost::ZERO;
        self.events.clear();
        self.tree.clear();
        self.enter(root, Role::Plus);
        self.look_around(root);
        while let Some(Reverse((when, event))) = self.events.pop() {
            self.grown = when;
            match event {
                Event::Open(blossom) => {
                    let node = &self.nodes[blossom];
                    let stands = node.role == Role::Minus && node.parent.is_none();
                    if stands && node.value == when - node.since {
                        self.open_in_tree(blossom);
                    }
                }
                Event::Tight(edge) => {
                    if self.tighten(edge) {
                        break;
                    }
                }
            }
        }
        for node in std::mem::take(&mut self.tree) {
            self.settle(node);
            self.nodes[node].role = Role::Outside;
        }
    }

    /// Takes in a tight edge. Whether that ended the tree.
    fn tighten(&mut self, edge: usize) -> bool {
        let (mut u, mut v, cost) = self.edges[edge];
        if self.role(u) != Role::Plus {
            (u, v) = (v, u);
        }
        if self.top[u] == self.top[v] || self.now(u) + self.now(v) != cost {
            return false;
        }
        let node = self.top[v];
        match (self.role(v), self.nodes[node].mate) {
            (Role::Minus, _) => {}
            (Role::Plus, _) => self.close(u, v),
            (Role::Outside, None) => {
                self.nodes[node].mate = Some((v, u));
                self.augment(u, v);
                return true;
            }
            (Role::Outside, Some((_, beyond))) => {
                self.enter(node, Role::Minus);
                self.nodes[node].entry = (u, v);
                self.announce_opening(node);
                let next = self.top[beyond];
                self.enter(next, Role::Plus);
                self.look_around(next);
            }
        }
        false
    }

    /// Changes matched and unmatched edges from the plus node of `u`, now matched with `v`, to the
    /// root.
    fn augment(&mut self, mut u: usize, mut v: usize) {
        while let Some((_, above)) = self.nodes[self.top[u]].mate.replace((u, v)) {
            let minus = self.top[above];
            let (from, into) = self.nodes[minus].entry;
            self.nodes[minus].mate = Some((into, from));
            (u, v) = (from, into);
        }
    }

    /// Makes a blossom of two plus nodes that touch and of what is between them and where their
    /// ways to the root meet.
    fn close(&mut self, u: usize, v: usize) {
        let (mut left, mut right) = (self.way_up(self.top[u]), self.way_up(self.top[v]));
        let mut meeting = self.top[u];
        while let (Some(&(a, _)), Some(&(b, _))) = (left.last(), right.last())
            && a == b
        {
            meeting = a;
            left.pop();
            right.pop();
        }
        let mut parts = vec![meeting];
        let mut links = Vec::new();
        for &(node, (below, above)) in left.iter().rev() {
            links.push((above, below));
            parts.push(node);
        }
        links.push((u, v));
        for &(node, link) in &right {
            links.push(link);
            parts.push(node);
        }
        let blossom = self.spare.pop().unwrap_or(self.nodes.len());
        let mut members = Vec::new();
        let mut turned = Vec::new();
        for &part in &parts {
            self.settle(part);
            let node = &mut self.nodes[part];
            if node.role == Role::Minus {
                turned.extend_from_slice(&node.members);
            }
            node.role = Role::Outside;
            node.parent = Some(blossom);
            members.extend_from_slice(&node.members);
        }
        for &member in &members {
            self.top[member] = blossom;
        }
        let node = Node { parts, links, mate: self.nodes[meeting].mate, ..Node::new(members) };
        if blossom == self.nodes.len() {
            self.nodes.push(node);
        } else {
            self.nodes[blossom] = node;
        }
        self.enter(blossom, Role::Plus);
        for vertex in turned {
            self.look(vertex);
        }
    }

    /// The nodes from a plus node to the root, each with the edge from it to the next.
    fn way_up(&self, plus: usize) -> Vec<(usize, (usize, usize))> {
        let mut way = Vec::new();
        let mut node = plus;
        while let Some((from, above)) = self.nodes[node].mate {
            let minus = self.top[above];
            let (parent, into) = self.nodes[minus].entry;
            way.push((node, (from, above)));
            way.push((minus, (into, parent)));
            node = self.top[parent];
        }
        // The root leads nowhere; its edge is never used.
        way.push((node, (node, node)));
        way
    }

    /// Opens a minus blossom: what lies between the tree's edge into it and its matched edge stays
    /// in the tree.
    fn open_in_tree(&mut self, blossom: usize) {
        self.settle(blossom);
        let entry = self.nodes[blossom].entry;
        let (parts, links) = self.open(blossom);
        let first = self.top[entry.1];
        let mut at = parts.iter().position(|&part| part == first).unwrap_or(0);
        self.enter(parts[at], Role::Minus);
        self.nodes[parts[at]].entry = entry;
        let mut turned = Vec::new();
        while at != 0 {
            // Matched links have odd numbers: the way goes first over one of those.
            let (plus, minus, (from, into)) = if at % 2 == 1 {
                (at + 1, (at + 2) % parts.len(), links[at + 1])
            } else {
                let (into, from) = links[at - 2];
                (at - 1, at - 2, (from, into))
            };
            self.enter(parts[plus], Role::Plus);
            turned.push(parts[plus]);
            self.enter(parts[minus], Role::Minus);
            self.nodes[parts[minus]].entry = (from, into);
            at = minus;
        }
        for node in turned {
            self.look_around(node);
        }
        for part in parts {
            match self.nodes[part].role {
                Role::Minus => self.announce_opening(part),
                Role::Plus => {}
                Role::Outside => {
                    for index in 0..self.nodes[part].members.len() {
                        self.look_back(self.nodes[part].members[index]);
                    }
                }
            }
        }
    }

    /// Opens a blossom and matches its parts; gives them, with their links, from the part on that
    /// the matched edge leads out of.
    fn open(&mut self, blossom: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
        let node = &mut self.nodes[blossom];
        let (mut parts, mut links) =
            (std::mem::take(&mut node.parts), std::mem::take(&mut node.links));
        let mate = node.mate.take();
        node.members.clear();
        node.role = Role::Outside;
        self.spare.push(blossom);
        for &part in &parts {
            self.nodes[part].parent = None;
            self.nodes[part].since = self.grown;
            for &member in &self.nodes[part].members {
                self.top[member] = part;
            }
        }
        let base = mate.map_or(parts[0], |(own, _)| self.top[own]);
        let shift = parts.iter().position(|&part| part == base).unwrap_or(0);
        parts.rotate_left(shift);
        links.rotate_left(shift);
        self.nodes[base].mate = mate;
        for at in (1..parts.len()).step_by(2) {
            let (u, v) = links[at];
            self.nodes[parts[at]].mate = Some((u, v));
            self.nodes[parts[at + 1]].mate = Some((v, u));
        }
        (parts, links)
    }

    fn enter(&mut self, node: usize, role: Role) {
        self.nodes[node].role = role;
        self.nodes[node].since = self.grown;
        self.tree.push(node);
    }

    /// Brings the values of an outermost node up to date.
    fn settle(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        let since = std::mem::replace(&mut node.since, self.grown);
        let change = match node.role {
            Role::Outside => return,
            Role::Plus => self.grown - since,
            Role::Minus => since - self.grown,
        };
        node.value += change;
        for &member in &node.members {
            self.reach[member] += change;
        }
    }

    fn role(&self, vertex: usize) -> Role {
        self.nodes[self.top[vertex]].role
    }

    /// The sum of the values of all nodes that a vertex is in, as of now.
    fn now(&self, vertex: usize) -> Cost<N> {
        let node = &self.nodes[self.top[vertex]];
        match node.role {
            Role::Outside => self.reach[vertex],
            Role::Plus => self.reach[vertex] + (self.grown - node.since),
            Role::Minus => self.reach[vertex] - (self.grown - node.since),
        }
    }

    /// Says when a minus node will have to open, if it is a blossom.
    fn announce_opening(&mut self, node: usize) {
        if !self.nodes[node].parts.is_empty() {
            let when = self.grown + self.nodes[node].value;
            self.events.push(Reverse((when, Event::Open(node))));
        }
    }

    /// Says when the edges of a plus node will be tight.
    fn look_around(&mut self, node: usize) {
        for index in 0..self.nodes[node].members.len() {
            self.look(self.nodes[node].members[index]);
        }
    }

    /// Says when the edges of a vertex in a plus node will be tight.
    fn look(&mut self, vertex: usize) {
        let own = self.now(vertex);
        for &edge in &self.around[vertex] {
            let (u, v, cost) = self.edges[edge];
            let other = if u == vertex { v } else { u };
            if self.top[other] == self.top[vertex] {
                continue;
            }
            let slack = cost - own - self.now(other);
            let left = match self.role(other) {
                Role::Minus => continue,
                Role::Plus => slack.half(),
                Role::Outside => slack,
            };
            self.events.push(Reverse((self.grown + left, Event::Tight(edge))));
        }
    }

    /// Says when the edges of a vertex that fell out of the tree will be tight.
    fn look_back(&mut self, vertex: usize) {
        for &edge in &self.around[vertex] {
            let (u, v, cost) = self.edges[edge];
            let other = if u == vertex { v } else { u };
            if self.role(other) == Role::Plus {
                let left = cost - self.now(vertex) - self.now(other);
                self.events.push(Reverse((self.grown + left, Event::Tight(edge))));
            }
        }
    }
}

impl<const N: usize> Node<N> {
    fn new(members: Vec<usize>) -> Self {
        Self {
            members,
            parts: Vec::new(),
            links: Vec::new(),
            parent: None,
            value: Cost::ZERO,
            mate: None,
            role: Role::Outside,
            entry: (0, 0),
            since: Cost::ZERO,
        }
    }
}
