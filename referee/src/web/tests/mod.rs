mod frames;
mod sheet;
